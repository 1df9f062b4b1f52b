/** What an end user may not choose of an installation: ends that it doesn't see, and where records go. */
import type { Row } from '../../../database/rows.ts';
import type { DomainError, Issue } from '../../../errors.ts';
import type { Call } from '../../call.ts';
import { issueAt } from '../../issues.ts';
import { findGroupByRef } from '../../project/group.ts';
import { findInProject } from '../../scope.ts';
import type { ConfigContent, ConfigInput } from '../installation-config.ts';

interface Choices {
  groupRef?: string;
  connectionId?: string | null | undefined;
  config?: ConfigInput | null | undefined;
}

interface Opened {
  given: Choices;
  add(issues: Issue[]): void;
  refusal(): DomainError;
}

/**
 * Throws BAD_USER_INPUT before anything of the ends is looked at, in the words for what does not exist. `present` is
 * the config that is changed. Other callers choose what they like.
 */
export async function refuseForeignChoices(
  call: Call,
  { id: projectId }: Pick<Row<'Project'>, 'id'>,
  { opened, present }: { opened: Opened; present: ConfigContent | null },
): Promise<void> {
  if (call.viewer.kind !== 'END_USER') return;
  const { groupRef, connectionId, config } = opened.given;
  const issues = [
    ...(groupRef === undefined ? [] : await groupIssues(call, projectId, groupRef)),
    ...(connectionId == null ? [] : await connectionIssues(call, projectId, connectionId)),
    ...destinationIssues(config?.read ?? [], present),
  ];
  if (issues.length === 0) return;
  opened.add(issues);
  throw opened.refusal();
}

async function groupIssues(call: Call, projectId: string, groupRef: string): Promise<Issue[]> {
  if (await findGroupByRef(call, { projectId, groupRef })) return [];
  return [issueAt(['input', 'groupRef'], 'is not a group of the project.', groupRef)];
}

async function connectionIssues(call: Call, projectId: string, id: string): Promise<Issue[]> {
  const [connection] = await findInProject(call, 'Connection', { projectId, id });
  return connection ? [] : [issueAt(['input', 'connectionId'], 'does not exist.', id)];
}

/** Destinations are the builder's: an end user leaves them as they are. */
function destinationIssues(
  choices: NonNullable<ConfigInput['read']>,
  present: ConfigContent | null,
): Issue[] {
  return choices.flatMap(({ objectName, destination }, index) => {
    const before = present?.read.find((choice) => choice.objectName === objectName)?.destination;
    if ((destination ?? null) === (before ?? null)) return [];
    const path = ['input', 'config', 'read', index, 'destination'];
    return [issueAt(path, 'is not chosen by end users.', destination)];
  });
}
