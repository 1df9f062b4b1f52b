/**
 * Refuses choices of an installation that end users may not make: groups and connections that they can't see, and
 * destinations.
 */

import type { Row } from '../../../../database/statements/tables.ts';
import type { Issue } from '../../../../kernel/errors.ts';
import type { Call, RowCall } from '../../../access/call.ts';
import { listVisibleRows } from '../../../access/scope.ts';
import { createInputIssue, requireNoIssues } from '../../../base/issues.ts';
import { findGroupByRef } from '../../../tenants/project/parties.ts';
import type { IntegrationContent } from '../../integration/integration-content.ts';
import type { ConfigChoices, ConfigContent } from '../installation-config.ts';

/** The sections of a config whose objects have destinations. */
const SECTIONS = ['read', 'subscribe'] as const;
type Section = (typeof SECTIONS)[number];

const ALTERNATIVES: Record<Section, string> = {
  read: 'To stop its reads, disable it.',
  subscribe: 'To stop its events, set them to NEVER.',
};

interface ForeignChoices {
  groupRef?: string;
  connectionId?: string | null | undefined;
  config?: ConfigChoices | null | undefined;
}

export interface CurrentChoices {
  /** The stored config. */
  config: ConfigContent;
  /** The latest revision of the integration. Null if there is none. */
  content: IntegrationContent | null;
}

/**
 * Throws BAD_USER_INPUT if an end user chooses a group, a connection or a destination that it may not choose. A row that
 * the end user can't see gets the message for a row that does not exist. Must run before any of these rows is read.
 */
export async function refuseForeignChoices(
  call: Call,
  { id: projectId }: Pick<Row<'Project'>, 'id'>,
  { choices, current }: { choices: ForeignChoices; current: CurrentChoices | null },
): Promise<void> {
  if (call.viewer.kind !== 'END_USER') return;
  const { groupRef, connectionId, config } = choices;
  requireNoIssues([
    ...(groupRef === undefined ? [] : await listGroupIssues(call, projectId, groupRef)),
    ...(connectionId == null
      ? []
      : await listEndUserConnectionIssues(call, projectId, connectionId)),
    ...(config ? SECTIONS.flatMap((name) => listDestinationIssues(name, config, current)) : []),
  ]);
}

async function listGroupIssues(call: Call, projectId: string, groupRef: string): Promise<Issue[]> {
  if (await findGroupByRef(call, { projectId, groupRef })) return [];
  return [createInputIssue(['groupRef'], 'is not a group of the project.', groupRef)];
}

async function listEndUserConnectionIssues(
  call: RowCall,
  projectId: string,
  id: string,
): Promise<Issue[]> {
  const [connection] = await listVisibleRows(call, 'Connection', { projectId, id });
  return connection ? [] : [createInputIssue(['connectionId'], 'does not exist.', id)];
}

/**
 * Returns an issue for each destination that an end user changes, because only the builder sets destinations.
 * End users must also keep the choices that have one.
 */
function listDestinationIssues(
  section: Section,
  config: ConfigChoices,
  current: CurrentChoices | null,
): Issue[] {
  const choices = config[section] ?? [];
  const currentChoices = current?.config[section] ?? [];
  const changeIssues = choices.flatMap(({ objectName, destination }, index) => {
    const currentChoice = currentChoices.find((choice) => choice.objectName === objectName);
    if ((destination ?? null) === (currentChoice?.destination ?? null)) return [];
    const path = ['config', section, index, 'destination'];
    return [createInputIssue(path, "can't be changed by end users.", destination)];
  });
  const isKept = (name: string) => choices.some(({ objectName }) => objectName === name);
  const droppedChoices = currentChoices.filter(
    ({ objectName, destination }) =>
      destination !== null && !isKept(objectName) && isOffered(current, section, objectName),
  );
  return [
    ...changeIssues,
    ...droppedChoices.map(({ objectName }) => {
      const detail = `must keep ${objectName}, because the builder chose its destination. ${ALTERNATIVES[section]}`;
      return createInputIssue(['config', section], detail);
    }),
  ];
}

/** True if the integration still has the object. Choices for other objects can't be kept. */
function isOffered(current: CurrentChoices | null, section: Section, name: string): boolean {
  const objects = current?.content?.[section]?.objects ?? [];
  return objects.some(({ objectName }) => objectName === name);
}
