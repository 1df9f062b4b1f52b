/** Which members a value of the content may have, as the schema says. */
import { EDITED, INPUTS } from '../../../__generated__/edited-inputs.ts';

export interface Member {
  /** The type of its value, or of the items of its list. */
  of: string;
  isList: boolean;
  isRequired: boolean;
  /** The values of an enum; null for other types. */
  values: readonly string[] | null;
  about: string;
}

type Members = Record<string, Member>;
const inputs: Record<string, Members> = INPUTS;

/** A step of a path: the name of a member, or the place in a list. */
export type Step = string | number;

/** The value itself: the content is one of its input. */
const WHOLE: Member = { of: EDITED, isList: false, isRequired: true, values: null, about: '' };

/** What the schema says of the value at a path; undefined if it knows no such member. */
export function memberAt(path: readonly Step[]): Member | undefined {
  let member: Member | undefined = WHOLE;
  for (const step of path) {
    const isItem: boolean = typeof step === 'number';
    if (!member || member.isList !== isItem) return undefined;
    member = isItem ? itemOf(member) : inputs[member.of]?.[step];
  }
  return member;
}

function itemOf(list: Member): Member {
  return { ...list, isList: false };
}

/** The members of the object at a path; undefined if it is none, or one of any form. */
export function membersAt(path: readonly Step[]): Members | undefined {
  const member = memberAt(path);
  return member && !member.isList ? inputs[member.of] : undefined;
}

/** `read.objects[0].schedule` */
export function pathText(path: readonly Step[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

export function stepsOf(path: string): Step[] {
  return (path.match(/[^.[\]]+/g) ?? []).map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** What a person may write as the value, in words. */
export function kindOf({ of, isList, values }: Member): string {
  if (isList) return 'a list';
  if (values) return `one of ${values.join(', ')}`;
  if (of in inputs) return 'an object';
  return (
    { String: 'a text', Boolean: 'true or false', Int: 'a whole number', ID: 'an id' }[of] ?? of
  );
}
