/** A declared provider with one object, `things`. */
import type { Behavior } from '../../../src/providers/behavior.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import type {
  DeclarationInput,
  ObjectDeclarationInput,
} from '../../../src/providers/declarative/declaration/declaration.ts';
import { createDeclarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { UNDOCUMENTED } from '../../support/providers/provider-session.ts';

export type ListDeclaration = ObjectDeclarationInput['list'];

/** Settings that differ between tests. */
interface Things {
  /** How the list of all things is paged, and other members of its declaration. */
  list: Pick<ListDeclaration, 'paging'> & Partial<ListDeclaration>;
  /** Default: `message` contains the message of a refusal. */
  errors?: DeclarationInput['errors'];
  /** Answers that differ from UNDOCUMENTED. */
  behavior?: Partial<Behavior>;
  /** Default: things cannot be created. */
  create?: ObjectDeclarationInput['create'];
  /** Default: things cannot be updated. */
  update?: ObjectDeclarationInput['update'];
  /** Default: the vendor has no idempotency keys. */
  idempotency?: DeclarationInput['idempotency'];
  /** Default: things cannot be read by id. */
  byIds?: ObjectDeclarationInput['byIds'];
}

/** The parameter with the position of a page. */
export const POSITION = { in: 'query', name: 'at' } as const;

export function createThingsProvider({
  list,
  errors = { messages: ['/message'] },
  behavior,
  create,
  update,
  idempotency,
  byIds,
}: Things): Provider {
  return createDeclarativeProvider({
    name: 'things',
    displayName: 'Things',
    baseUrl: 'https://things.example',
    authSchemes: ['NONE'],
    api: {
      docsUrl: 'https://things.example/docs',
      checkedAgainst: 'nothing, because only tests use it',
      errors,
      behavior: { ...UNDOCUMENTED, ...behavior },
      ...(idempotency && { idempotency }),
      objects: {
        things: {
          displayName: 'Things',
          changedAt: { at: '/changed', format: 'iso' },
          list: {
            path: '/things',
            records: '/things',
            pageSize: { in: 'query', name: 'size', max: 50 },
            ...list,
          },
          ...(create && { create }),
          ...(update && { update }),
          ...(byIds && { byIds }),
        },
      },
    },
  });
}
