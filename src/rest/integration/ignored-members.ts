/** Members of a manifest that the reference API accepts and ignores. */
import { pathName } from '../../domain/issues.ts';
import type { Parts, RestRequest } from '../endpoint/endpoint.ts';
import { getValue } from '../endpoint/mask.ts';

type Json = Record<string, unknown>;

/** Published manifests list the objects whose records may be deleted. The reference API has no such block. */
const IGNORED_OF_CONTENT = ['delete'];
/** The reference API watches fields of updates only, and objects of its manifests have no deletions. */
const IGNORED_OF_OBJECT = ['delete', 'createEvent.watchFieldsAuto', 'deleteEvent.watchFieldsAuto'];

export const WARNED =
  'A `Warning` header names each member that is ignored, and each field that a later one replaces.';

/** Drops the ignored members of the contents at `path` in the body, with a warning for each. */
export function dropIgnored(
  parts: Parts,
  path: readonly string[],
  { warnings }: Pick<RestRequest, 'warnings'>,
): Parts {
  const body = structuredClone(parts.body) as Json | undefined;
  const value = getValue(body, path);
  const contents = Array.isArray(value) ? value : [value];
  for (const [index, content] of contents.entries()) {
    const at = Array.isArray(value) ? [...path, index] : path;
    dropNames(content, { names: IGNORED_OF_CONTENT, at, warnings });
    for (const block of ['read', 'write', 'subscribe']) {
      const objects = getValue(content, [block, 'objects']);
      if (!Array.isArray(objects)) continue;
      for (const [position, object] of objects.entries()) {
        const place = [...at, block, 'objects', position];
        dropNames(object, { names: IGNORED_OF_OBJECT, at: place, warnings });
      }
    }
  }
  return { ...parts, body };
}

interface Dropping {
  names: readonly string[];
  at: readonly PropertyKey[];
  warnings: string[];
}

function dropNames(value: unknown, { names, at, warnings }: Dropping): void {
  for (const name of names) {
    const members = name.split('.');
    const last = members.pop() as string;
    const holder = getValue(value, members);
    if (getValue(holder, [last]) === undefined) continue;
    delete (holder as Json)[last];
    warnings.push(`${pathName([...at, ...members, last])}: is ignored.`);
  }
}
