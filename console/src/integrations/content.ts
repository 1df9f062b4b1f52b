/** The content of a revision as people read and write it: JSON without what is not set. */
import { graphql } from 'react-relay';

export const CONTENT = graphql`
  fragment content_revision on Revision {
    specVersion
    content {
      name
      provider
      displayName
      module
      read {
        objects {
          objectName
          mapToName
          mapToDisplayName
          enabled
          destination
          schedule
          optionalFieldsAuto
          delivery {
            mode
            pageSize
          }
          requiredFields {
            fieldName
            mapToName
            mapToDisplayName
          }
          optionalFields {
            fieldName
            mapToName
            mapToDisplayName
          }
        }
      }
      write {
        objects {
          objectName
          inheritMapping
          valueDefaults {
            allowAnyFields
          }
        }
      }
      subscribe {
        objects {
          objectName
          destination
          inheritFieldsAndMapping
          otherEvents
          createEvent {
            enabled
          }
          updateEvent {
            enabled
            requiredWatchFields
            watchFieldsAuto
          }
          deleteEvent {
            enabled
          }
          associationChangeEvent {
            enabled
            includeFullRecords
          }
        }
      }
      proxy {
        enabled
        useModule
      }
    }
  }
`;

/** Pretty, without members that are null or empty lists. */
export function textOf(content: unknown): string {
  return JSON.stringify(content, (_key, value) => (isUnset(value) ? undefined : value), 2);
}

function isUnset(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

/** The line of a path like `read.objects[0].schedule` in a text of textOf, from 1; null if it has no such member. */
export function lineOf(text: string, path: string): number | null {
  const steps = path.match(/[^.[\]]+/g) ?? [];
  const lines = text.split('\n');
  let [line, depth] = [0, 1];
  for (const step of steps) {
    const found = /^\d+$/.test(step)
      ? itemLine(lines, line, { depth, index: Number(step) })
      : memberLine(lines, line, { depth, name: step });
    if (found === null) return line === 0 ? null : line + 1;
    line = found;
    depth += 1;
  }
  return line + 1;
}

const indent = (depth: number) => '  '.repeat(depth);

function memberLine(lines: string[], from: number, at: { depth: number; name: string }) {
  const start = `${indent(at.depth)}${JSON.stringify(at.name)}:`;
  const end = indent(at.depth - 1);
  for (let line = from + 1; line < lines.length; line += 1) {
    if (lines[line]?.startsWith(start)) return line;
    if (lines[line]?.match(/^( *)[}\]]/)?.[1] === end) return null;
  }
  return null;
}

function itemLine(lines: string[], from: number, at: { depth: number; index: number }) {
  let seen = -1;
  for (let line = from + 1; line < lines.length; line += 1) {
    const text = lines[line] ?? '';
    if (text.match(/^( *)\]/)?.[1] === indent(at.depth - 1)) return null;
    if (text.startsWith(indent(at.depth)) && !/^[ }\]]/.test(text.slice(2 * at.depth))) seen += 1;
    if (seen === at.index) return line;
  }
  return null;
}
