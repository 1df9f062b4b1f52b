/** The updateMask of an installation: the paths that it may name, and values at them. */
import { issueAt } from '../../../domain/issues.ts';
import { type Issue, invalidInput } from '../../../errors.ts';
import { maskRemedy } from '../../endpoint/mask.ts';

/** More paths than a config has members would name some twice. */
export const MASK_MAX = 1_000;

/** The names on the way to a member. */
type MaskPath = readonly string[];

const ALLOWED = [
  'connectionId',
  'config',
  'config.createdBy',
  'config.content',
  'config.content.read.objects and below',
  'config.content.write.objects and below',
  'config.content.subscribe.objects and below',
  'config.content.proxy.enabled',
];
const DOT_OR_BELOW = /^config(\.(createdBy|content(\.proxy\.enabled)?))?$|^connectionId$/;
const OBJECTS_OR_BELOW = /^config\.content\.(read|write|subscribe)\.objects(\.|$)/;

/** Dots between parts; a backslash before a dot or a colon makes it one of the name. Throws if one is not allowed. */
export function readMask(updateMask: readonly string[]): MaskPath[] {
  const issues = updateMask.flatMap((mask, index) =>
    DOT_OR_BELOW.test(mask) || OBJECTS_OR_BELOW.test(mask)
      ? []
      : [issueAt(['updateMask', index], `must be one of ${ALLOWED.join(', ')}.`, mask)],
  );
  if (issues.length > 0) throw invalidInput(issues, { ...maskRemedy(issues, ALLOWED) });
  return updateMask.map(partsOf);
}

function partsOf(mask: string): string[] {
  return (mask.match(/(?:\\.|[^.\\])+/gs) ?? []).map((part) => part.replace(/\\(.)/gs, '$1'));
}

/** Returns a copy of the values that the mask names. A mask that is malformed or too long keeps all values. */
export function namedValues(values: unknown, updateMask: unknown): unknown {
  const isMask = Array.isArray(updateMask) && updateMask.length <= MASK_MAX;
  if (!isMask || !updateMask.every((name) => typeof name === 'string')) return values;
  return updateMask.map(partsOf).reduce<unknown>((kept, path) => {
    const value = valueAt(values, path);
    return value === undefined ? kept : withValueAt(kept, path, value);
  }, {});
}

function valueAt(values: unknown, path: MaskPath): unknown {
  return path.reduce<unknown>((inner, name) => memberOf(inner, name), values);
}

/** Throws BAD_USER_INPUT if there is no value at a path that the mask names. */
export function maskedValue(values: unknown, path: MaskPath): unknown {
  const value = valueAt(values, path);
  if (value !== undefined) return value;
  const left: Issue = issueAt(
    ['installation', ...path],
    'is named by updateMask, but it is left out.',
  );
  throw invalidInput([left]);
}

/** A copy, with the value at the path. Members on the way to it are made if there are none. */
export function withValueAt(target: unknown, [first, ...rest]: MaskPath, value: unknown): unknown {
  if (first === undefined) return value;
  const members = typeof target === 'object' && target !== null ? target : {};
  return { ...members, [first]: withValueAt(memberOf(members, first), rest, value) };
}

/** Its own: a name like `constructor` is a name like any other. */
function memberOf(target: unknown, name: string): unknown {
  if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name)) {
    return undefined;
  }
  return (target as Record<string, unknown>)[name];
}
