/** Spells stored texts as in REST. A stored text names the inputs of its members, because no request belongs to it. */
import { DEFAULT_SPELLING, type Path, type Spelling } from '../../kernel/text.ts';
import { toWord } from './words.ts';

/** Returns the name in requests of a member at a path in the domain's input. */
type NameMember = (path: Path) => string;

const inputs = new Map<string, NameMember>();

/** Declares the names that the members of an input have in requests. The first declaration of an input counts. */
export function declareNames(inputName: string | undefined, nameMember: NameMember): void {
  if (inputName !== undefined && !inputs.has(inputName)) inputs.set(inputName, nameMember);
}

export const STORED_SPELLING: Spelling = {
  locate(path, inputName = '') {
    const nameMember = inputs.get(inputName);
    return nameMember ? { in: 'body', name: nameMember(path) } : DEFAULT_SPELLING.locate(path);
  },
  toWord: (name, enumName) => toWord(enumName, name),
};
