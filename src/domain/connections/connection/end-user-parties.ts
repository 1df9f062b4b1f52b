/** Limits end users to connections of their own group and consumer. */

import type { Row } from '../../../database/statements/tables.ts';
import { forbidden, type Issue } from '../../../kernel/errors.ts';
import { load } from '../../access/batched.ts';
import type { Call, RowCall } from '../../access/call.ts';
import { byId } from '../../access/scope.ts';
import { createInputIssue, requireNoIssues } from '../../base/issues.ts';

interface ConnectInput {
  groupRef: string;
  consumerRef: string;
  providerAppId?: string | null | undefined;
}

/**
 * Throws BAD_USER_INPUT with an issue for each member that an end user may not set. Display names are allowed, because
 * the refs limit them to the end user's own group and consumer. The issues don't reveal whether other groups or consumers
 * exist.
 */
export async function refuseOtherParties(call: Call, input: ConnectInput): Promise<void> {
  const { viewer } = call;
  if (viewer.kind !== 'END_USER') return;
  const [group, consumer] = await Promise.all([
    load(call, byId('Group'), viewer.groupId),
    load(call, byId('Consumer'), viewer.consumerId),
  ]);
  const { groupRef, consumerRef, providerAppId } = input;
  const issues: Issue[] = [];
  if (groupRef !== group?.groupRef) {
    issues.push(createInputIssue(['groupRef'], "must be the token's group.", groupRef));
  }
  if (consumerRef !== consumer?.consumerRef) {
    const detail = "must be the token's consumer.";
    issues.push(createInputIssue(['consumerRef'], detail, consumerRef));
  }
  if (providerAppId != null) {
    const detail = "can't be set by end users.";
    issues.push(createInputIssue(['providerAppId'], detail, providerAppId));
  }
  requireNoIssues(issues);
}

/**
 * Throws FORBIDDEN for an end user who did not create the connection. All consumers of a group may use its connections,
 * but only the consumer who created a connection may change or delete it.
 */
export function refuseOtherConsumers(
  { viewer }: RowCall,
  { consumerId }: Pick<Row<'Connection'>, 'consumerId'>,
  action: string,
): void {
  if (viewer.kind !== 'END_USER' || viewer.consumerId === consumerId) return;
  throw forbidden(
    `The connection belongs to another consumer of the group. Only that consumer may ${action}.`,
  );
}
