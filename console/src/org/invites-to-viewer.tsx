/**
 * Lists orgs that the user may join by an invite or by the domain of their email address. Shows nothing if
 * there are none.
 */
import { graphql, useFragment } from 'react-relay';
import type { invitesToViewer_query$key } from '../../__generated__/invitesToViewer_query.graphql.ts';
import type { invitesToViewerAcceptMutation } from '../../__generated__/invitesToViewerAcceptMutation.graphql.ts';
import type { invitesToViewerJoinMutation } from '../../__generated__/invitesToViewerJoinMutation.graphql.ts';
import { Action, Refusal } from '../parts/form.tsx';
import { Panel } from '../parts/page.tsx';
import { useChange } from '../parts/queries.ts';

const VIEWER = graphql`
  fragment invitesToViewer_query on Query {
    viewer {
      invites(first: 50) {
        nodes {
          id
          parentId
          orgLabel
        }
      }
      joinableOrgs(first: 50) {
        nodes {
          id
          label
        }
      }
    }
    orgs(first: 100) {
      nodes {
        id
      }
    }
  }
`;

const ACCEPT_INVITE = graphql`
  mutation invitesToViewerAcceptMutation($input: AcceptInviteInput!) {
    acceptInvite(input: $input) {
      invite {
        id
      }
    }
  }
`;

const JOIN_ORG = graphql`
  mutation invitesToViewerJoinMutation($input: JoinOrgInput!) {
    joinOrg(input: $input) {
      org {
        id
      }
    }
  }
`;

export function InvitesToViewer({ query }: { query: invitesToViewer_query$key }) {
  const { viewer, orgs } = useFragment(VIEWER, query);
  const accept = useChange<invitesToViewerAcceptMutation>(ACCEPT_INVITE);
  const join = useChange<invitesToViewerJoinMutation>(JOIN_ORG);
  const isMember = (orgId: string) => orgs?.nodes.some(({ id }) => id === orgId) ?? false;
  const isInvited = (orgId: string) =>
    viewer.invites.nodes.some(({ parentId }) => parentId === orgId);
  const joinable = viewer.joinableOrgs.nodes.filter(({ id }) => !isMember(id) && !isInvited(id));
  if (viewer.invites.nodes.length + joinable.length === 0) return null;
  return (
    <Panel title="Invites to you">
      <ul className="plain-list">
        {viewer.invites.nodes.map(({ id, parentId, orgLabel }) => (
          <li key={id}>
            <span className="strong">{orgLabel ?? parentId}</span>
            <Action
              kind="primary"
              aria-label={`Accept the invite to ${orgLabel ?? parentId}`}
              isPending={accept.isRunning}
              onPress={() => accept.run({ input: { inviteId: id } })}
            >
              Accept
            </Action>
          </li>
        ))}
        {joinable.map(({ id, label }) => (
          <li key={id}>
            <span>
              <span className="strong">{label}</span>{' '}
              <span className="quiet">People with your email domain may join.</span>
            </span>
            <Action
              aria-label={`Join ${label}`}
              isPending={join.isRunning}
              onPress={() => join.run({ input: { orgId: id } })}
            >
              Join
            </Action>
          </li>
        ))}
      </ul>
      <Refusal problem={accept.problem ?? join.problem} />
    </Panel>
  );
}
