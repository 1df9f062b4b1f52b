/** The statements with which scope.ts selects rows whose visibility depends on other tables. */
import type { Row } from '../../database/rows.ts';
import { anyOfBound, CompiledStatement, statements } from '../../database/statements.ts';
import type { EndUserViewer } from './end-user.ts';

/** Selects the end user's own consumer, and consumers who have connected an account for the end user's group. */
export const CONSUMERS_OF_GROUP = new CompiledStatement<
  EndUserViewer & { ids: string[] },
  Row<'Consumer'>
>((bind) =>
  statements
    .selectFrom('Consumer')
    .selectAll()
    .where(
      'Consumer.projectId',
      '=',
      bind(({ projectId }) => projectId),
    )
    .where('Consumer.id', '=', anyOfBound(bind(({ ids }) => ids)))
    .where((eb) => {
      const connection = eb
        .selectFrom('Connection')
        .select('Connection.id')
        .whereRef('Connection.projectId', '=', 'Consumer.projectId')
        .whereRef('Connection.consumerId', '=', 'Consumer.id')
        .where(
          'Connection.groupId',
          '=',
          bind(({ groupId }) => groupId),
        );
      return eb.or([
        eb(
          'Consumer.id',
          '=',
          bind(({ consumerId }) => consumerId),
        ),
        eb.exists(connection),
      ]);
    }),
);

/** Selects members of the viewer's orgs, and the viewer if it is a builder. */
export const VISIBLE_BUILDERS = new CompiledStatement<
  { ids: string[]; orgIds: string[]; viewerId: string },
  Row<'Builder'>
>((bind) =>
  statements
    .selectFrom('Builder')
    .selectAll()
    .where('Builder.id', '=', anyOfBound(bind(({ ids }) => ids)))
    .where((eb) => {
      const membership = eb
        .selectFrom('OrgMember')
        .select('OrgMember.orgId')
        .whereRef('OrgMember.builderId', '=', 'Builder.id')
        .where('OrgMember.orgId', '=', anyOfBound(bind(({ orgIds }) => orgIds)));
      return eb.or([
        eb(
          'Builder.id',
          '=',
          bind(({ viewerId }) => viewerId),
        ),
        eb.exists(membership),
      ]);
    }),
);

/** Selects invites of the viewer's orgs, and pending invites to the viewer's own email address. */
export const VISIBLE_INVITES = new CompiledStatement<
  { ids: string[]; orgIds: string[]; email: string | null; now: Date },
  Row<'Invite'>
>((bind) =>
  statements
    .selectFrom('Invite')
    .selectAll()
    .where('id', '=', anyOfBound(bind(({ ids }) => ids)))
    .where((eb) => {
      const isPending = eb.and([
        eb(
          'pendingEmail',
          '=',
          bind(({ email }) => email),
        ),
        eb(
          'expireTime',
          '>',
          bind(({ now }) => now),
        ),
      ]);
      return eb.or([eb('orgId', '=', anyOfBound(bind(({ orgIds }) => orgIds))), isPending]);
    }),
);
