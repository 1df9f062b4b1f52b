/** Members of a manifest that the reference API accepts and ignores, and the warnings that report them. */
import { printTexts } from '../../../domain/base/stored-text.ts';
import { formatPath, type Text } from '../../../kernel/text.ts';
import type { Parts, RestRequest } from '../../endpoint/endpoint.ts';
import { getValue } from '../../endpoint/mask.ts';
import { setWarnings } from '../../endpoint/warning-header.ts';

type Json = Record<string, unknown>;

/** Published manifests list the objects whose records may be deleted. The reference API has no such block. */
const IGNORED_IN_CONTENTS = ['delete'];
/** The reference API watches fields of updates only, and objects of its manifests have no deletions. */
const IGNORED_IN_OBJECTS = ['delete', 'createEvent.watchFieldsAuto', 'deleteEvent.watchFieldsAuto'];

export const WARNING_HEADER_REMARK =
  'A `Warning` header names each member that is ignored, each field that a later one replaces, and each object and field whose name is probably misspelled.';

/** Drops the ignored members of the contents at `path` in the body, with a warning for each. */
export function dropIgnoredMembers(
  parts: Parts,
  path: readonly string[],
  { warnings }: Pick<RestRequest, 'warnings'>,
): Parts {
  const body = structuredClone(parts.body) as Json | undefined;
  const value = getValue(body, path);
  const contents = Array.isArray(value) ? value : [value];
  for (const [index, content] of contents.entries()) {
    const contentPath = Array.isArray(value) ? [...path, index] : path;
    dropNames(content, { names: IGNORED_IN_CONTENTS, path: contentPath, warnings });
    for (const block of ['read', 'write', 'subscribe']) {
      const objects = getValue(content, [block, 'objects']);
      if (!Array.isArray(objects)) continue;
      for (const [position, object] of objects.entries()) {
        const objectPath = [...contentPath, block, 'objects', position];
        dropNames(object, { names: IGNORED_IN_OBJECTS, path: objectPath, warnings });
      }
    }
  }
  return { ...parts, body };
}

interface DropOptions {
  names: readonly string[];
  /** The path of the value in the body, for warnings. */
  path: readonly PropertyKey[];
  warnings: string[];
}

function dropNames(value: unknown, { names, path, warnings }: DropOptions): void {
  for (const name of names) {
    const members = name.split('.');
    const last = members.pop() as string;
    const holder = getValue(value, members);
    if (getValue(holder, [last]) === undefined) continue;
    delete (holder as Json)[last];
    warnings.push(`${formatPath([...path, ...members, last])}: is ignored.`);
  }
}

/**
 * Sends a `Warning` header with a warning for each member that was ignored. Logs the members that only REST accepts.
 */
export function sendWarnings(request: RestRequest, domainWarnings: readonly Text[]): void {
  const { call, url, warnings } = request;
  if (warnings.length > 0) {
    call.log.warn({ path: url.split('?')[0], warnings }, 'manifest.members_ignored');
  }
  setWarnings(request, [...warnings, ...printTexts(call, domainWarnings)]);
}
