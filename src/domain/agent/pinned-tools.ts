/** Names the tools of pinned writes, such as `create_people`. */
import type { PinnedTool } from '../viewer/agent-grant.ts';

export interface NamedPinnedTool extends PinnedTool {
  /** Distinct in the session, and safe for every client: at most 64 letters, digits, `_` and `-`. */
  name: string;
}

const NAME_LENGTH_MAX = 64;

/** Names the tools of a session. The names depend only on the list, so that they are the same in every call. */
export function namePinnedTools(pinnedTools: readonly PinnedTool[]): NamedPinnedTool[] {
  const usedNames = new Set<string>();
  return pinnedTools.map(({ type, objectName }) => {
    const name = findFreeName(`${type.toLowerCase()}_${toSafeName(objectName)}`, usedNames);
    usedNames.add(name);
    return { name, type, objectName };
  });
}

function toSafeName(objectName: string): string {
  return objectName.replaceAll(/[^A-Za-z0-9_-]+/g, '_');
}

function findFreeName(base: string, usedNames: ReadonlySet<string>): string {
  for (let count = 1; ; count += 1) {
    const suffix = count === 1 ? '' : `_${count}`;
    const name = `${base.slice(0, NAME_LENGTH_MAX - suffix.length)}${suffix}`;
    if (!usedNames.has(name)) return name;
  }
}
