/** Describes the members that a content may have, from the schema. */
import { EDITED, INPUTS } from '../../../__generated__/edited-inputs.ts';

export interface Member {
  /** The type of the member's value, or of its items if it is a list. */
  valueType: string;
  isList: boolean;
  isRequired: boolean;
  /** The values of an enum in the form of manifests; null for other types. */
  values: readonly string[] | null;
  description: string;
}

type Members = Record<string, Member>;
const inputs: Record<string, Members> = INPUTS;

/** A step of a path: the name of a member, or an index in a list. */
export type Step = string | number;

/** Describes the content itself, as if it were a member. */
const WHOLE: Member = {
  valueType: EDITED,
  isList: false,
  isRequired: true,
  values: null,
  description: '',
};

/** Returns the schema's description of the value at a path. Undefined if the schema has no such member. */
export function findMember(path: readonly Step[]): Member | undefined {
  let member: Member | undefined = WHOLE;
  for (const step of path) {
    const isItem: boolean = typeof step === 'number';
    if (!member || member.isList !== isItem) return undefined;
    member = isItem ? getItemMember(member) : inputs[member.valueType]?.[step];
  }
  return member;
}

function getItemMember(list: Member): Member {
  return { ...list, isList: false };
}

/** Returns the members of the object at a path. Undefined if the value is no object or accepts any JSON. */
export function findMembers(path: readonly Step[]): Members | undefined {
  const member = findMember(path);
  return member && !member.isList ? inputs[member.valueType] : undefined;
}

/** Formats a path, like `read.objects[0].schedule`. */
export function formatPath(path: readonly Step[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

export function parsePath(path: string): Step[] {
  return (path.match(/[^.[\]]+/g) ?? []).map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** True if the value of the member is one object with members of its own. */
export function isObject({ valueType, isList, values }: Member): boolean {
  return !isList && !values && valueType in inputs;
}

/** Describes the kind of value that a member accepts, in words. */
export function describeKind(member: Member): string {
  const { valueType, isList, values } = member;
  if (isList) return 'a list';
  if (values) return `one of ${values.join(', ')}`;
  if (isObject(member)) return 'an object';
  return SCALAR_KINDS[valueType] ?? valueType;
}

const SCALAR_KINDS: Record<string, string> = {
  String: 'a string',
  Boolean: 'true or false',
  Int: 'a whole number',
  ID: 'an ID',
};
