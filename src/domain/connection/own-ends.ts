/** Whom an end user connects and disconnects: itself, for its own group. */
import type { Row } from '../../database/rows.ts';
import { forbidden, type Issue } from '../../errors.ts';
import type { Call } from '../call.ts';
import { issueAt } from '../issues.ts';
import { byId } from '../scope.ts';

interface Ends {
  groupRef: string;
  consumerRef: string;
  groupName?: string | null | undefined;
  consumerName?: string | null | undefined;
  providerAppId?: string | null | undefined;
}

/** What an end user may not say of a connect; nothing for other callers. It depends on nothing of other people. */
export async function listForeignEnds(call: Call, ends: Ends): Promise<Issue[]> {
  const { viewer } = call;
  if (viewer.kind !== 'END_USER') return [];
  const [[group], [consumer]] = await Promise.all([
    byId('Group')(call, [viewer.groupId]),
    byId('Consumer')(call, [viewer.consumerId]),
  ]);
  const rules: [name: keyof Ends, isMet: boolean, detail: string][] = [
    ['groupRef', ends.groupRef === group?.groupRef, 'must be the group of the token.'],
    [
      'consumerRef',
      ends.consumerRef === consumer?.consumerRef,
      'must be the consumer of the token.',
    ],
    ['groupName', isLeft(ends.groupName, group?.groupName), 'is not set by end users.'],
    ['consumerName', isLeft(ends.consumerName, consumer?.consumerName), 'is not set by end users.'],
    ['providerAppId', ends.providerAppId == null, 'is not chosen by end users.'],
  ];
  return rules
    .filter(([, isMet]) => !isMet)
    .map(([name, , detail]) => issueAt(['input', name], detail, ends[name]));
}

function isLeft(name: string | null | undefined, present: string | undefined): boolean {
  return name == null || name === present;
}

/** Others of the group use an account; what becomes of it decides who has connected it. Throws FORBIDDEN. */
export function refuseOtherConsumers(
  { viewer }: Call,
  { consumerId }: Pick<Row<'Connection'>, 'consumerId'>,
  act: string,
): void {
  if (viewer.kind !== 'END_USER' || viewer.consumerId === consumerId) return;
  throw forbidden(`The connection is of another consumer of the group: only they ${act}.`);
}
