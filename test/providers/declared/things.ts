/** A declared provider of one kind of object, `things`. */
import type { Provider } from '../../../src/providers/contract.ts';
import type {
  DeclarationInput,
  ObjectDeclarationInput,
} from '../../../src/providers/declarative/declaration/declaration.ts';
import { declarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';

export type ListDeclaration = ObjectDeclarationInput['all'];

/** What tells one of them from another. */
interface Things {
  /** Of the list of all things: at least how it pages. */
  list: Pick<ListDeclaration, 'paging'> & Partial<ListDeclaration>;
  /** Default: the message of a refusal is in `message`. */
  errors?: DeclarationInput['errors'];
  /** Default: things can't be created. */
  create?: ObjectDeclarationInput['create'];
}

/** Place and name of the argument that says where a page begins. */
export const at = { in: 'query', name: 'at' } as const;

export function thingsProvider({
  list,
  errors = { messages: ['/message'] },
  create,
}: Things): Provider {
  return declarativeProvider({
    name: 'things',
    displayName: 'Things',
    baseUrl: 'https://things.example',
    authSchemes: ['NONE'],
    records: {
      docsUrl: 'https://things.example/docs',
      checkedAgainst: 'nothing: it exists in tests alone',
      errors,
      objects: {
        things: {
          displayName: 'Things',
          changedAt: { at: '/changed', format: 'iso' },
          all: {
            path: '/things',
            records: '/things',
            size: { in: 'query', name: 'size', max: 50 },
            ...list,
          },
          ...(create && { create }),
        },
      },
    },
  });
}
