/**
 * Refuses choices of an installation that end users may not make: groups and connections that they can't see, and
 * destinations.
 */
import type { Row } from '../../../database/rows.ts';
import type { Issue } from '../../../errors.ts';
import type { Call } from '../../call.ts';
import type { IntegrationContent } from '../../integration/integration-content.ts';
import { createInputIssue, requireNoIssues } from '../../issues.ts';
import { findGroupByRef } from '../../project/group.ts';
import { findProjectRows } from '../../scope.ts';
import type { ConfigChoices, ConfigContent } from '../installation-config.ts';

interface ForeignChoices {
  groupRef?: string;
  connectionId?: string | null | undefined;
  config?: ConfigChoices | null | undefined;
}

export interface PresentChoices {
  /** The stored config. */
  config: ConfigContent;
  /** The latest revision of the integration. Null if there is none. */
  content: IntegrationContent | null;
}

/**
 * Throws BAD_USER_INPUT if an end user chooses a group, a connection or a destination that it may not choose. The
 * message is the one for a row that does not exist. Must run before any of these rows is read. Other callers may choose
 * any of them.
 */
export async function refuseForeignChoices(
  call: Call,
  { id: projectId }: Pick<Row<'Project'>, 'id'>,
  { choices, present }: { choices: ForeignChoices; present: PresentChoices | null },
): Promise<void> {
  if (call.viewer.kind !== 'END_USER') return;
  const { groupRef, connectionId, config } = choices;
  requireNoIssues([
    ...(groupRef === undefined ? [] : await listGroupIssues(call, projectId, groupRef)),
    ...(connectionId == null
      ? []
      : await listEndUserConnectionIssues(call, projectId, connectionId)),
    ...(config ? PARTS.flatMap((part) => listDestinationIssues(part, config, present)) : []),
  ]);
}

async function listGroupIssues(call: Call, projectId: string, groupRef: string): Promise<Issue[]> {
  if (await findGroupByRef(call, { projectId, groupRef })) return [];
  return [createInputIssue(['input', 'groupRef'], 'is not a group of the project.', groupRef)];
}

async function listEndUserConnectionIssues(
  call: Call,
  projectId: string,
  id: string,
): Promise<Issue[]> {
  const [connection] = await findProjectRows(call, 'Connection', { projectId, id });
  return connection ? [] : [createInputIssue(['input', 'connectionId'], 'does not exist.', id)];
}

const PARTS = ['read', 'subscribe'] as const;
type Part = (typeof PARTS)[number];

/**
 * Returns an issue for each destination that an end user changes, because only the builder sets destinations.
 * End users must also keep the choices that have one.
 */
function listDestinationIssues(
  part: Part,
  config: ConfigChoices,
  present: PresentChoices | null,
): Issue[] {
  const choices = config[part] ?? [];
  const storedChoices = present?.config[part] ?? [];
  const changeIssues = choices.flatMap(({ objectName, destination }, index) => {
    const stored = storedChoices.find((choice) => choice.objectName === objectName);
    if ((destination ?? null) === (stored?.destination ?? null)) return [];
    const path = ['input', 'config', part, index, 'destination'];
    return [createInputIssue(path, "can't be changed by end users.", destination)];
  });
  const isKept = (name: string) => choices.some(({ objectName }) => objectName === name);
  const droppedChoices = storedChoices.filter(
    ({ objectName, destination }) =>
      destination !== null && !isKept(objectName) && isOffered(present, part, objectName),
  );
  return [
    ...changeIssues,
    ...droppedChoices.map(({ objectName }) => {
      const detail = `must keep ${objectName}, because the builder chose its destination. ${INSTEAD[part]}`;
      return createInputIssue(['input', 'config', part], detail);
    }),
  ];
}

const INSTEAD: Record<Part, string> = {
  read: 'To stop its reads, set `disabled`.',
  subscribe: 'To stop its events, set them to NEVER.',
};

/** True if the integration still has the object. Choices for other objects can't be kept. */
function isOffered(present: PresentChoices | null, part: Part, name: string): boolean {
  const objects = present?.content?.[part]?.objects ?? [];
  return objects.some(({ objectName }) => objectName === name);
}
