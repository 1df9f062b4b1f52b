/**
 * The members of an org with their roles. An admin can change roles and remove other members, and a member
 * can leave.
 */
import { graphql, useFragment } from 'react-relay';
import type { members_org$data, members_org$key } from '../../__generated__/members_org.graphql.ts';
import type { members_query$key } from '../../__generated__/members_query.graphql.ts';
import type { membersRemoveMutation } from '../../__generated__/membersRemoveMutation.graphql.ts';
import type { membersUpdateMutation } from '../../__generated__/membersUpdateMutation.graphql.ts';
import { ConfirmChange } from '../parts/dialog.tsx';
import { Choice, Refusal } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { formatRole, parseRole, ROLES } from './roles.ts';

const ORG = graphql`
  fragment members_org on Org {
    id
    label
    viewerRole
    members(first: 100) {
      nodes {
        role
        createTime
        builder {
          id
          fullName
          primaryEmail
        }
      }
    }
  }
`;

const VIEWER = graphql`
  fragment members_query on Query {
    viewer {
      builder {
        id
      }
    }
  }
`;

const UPDATE_MEMBER = graphql`
  mutation membersUpdateMutation($input: UpdateMemberInput!) {
    updateMember(input: $input) {
      member {
        role
      }
    }
  }
`;

const REMOVE_MEMBER = graphql`
  mutation membersRemoveMutation($input: RemoveMemberInput!) {
    removeMember(input: $input) {
      deletedId
    }
  }
`;

interface MembersProps {
  org: members_org$key;
  query: members_query$key;
}

type Member = members_org$data['members']['nodes'][number];

const formatName = ({ builder: { id, fullName, primaryEmail } }: Member) =>
  fullName ?? primaryEmail ?? id;

export function Members({ org: orgKey, query }: MembersProps) {
  const org = useFragment(ORG, orgKey);
  const { viewer } = useFragment(VIEWER, query);
  const update = useChange<membersUpdateMutation>(UPDATE_MEMBER);
  const { nodes } = org.members;
  const isAdmin = org.viewerRole === 'ADMIN';
  const isLastAdmin = isAdmin && nodes.filter(({ role }) => role === 'ADMIN').length === 1;
  const isViewer = ({ builder }: Member) => builder.id === viewer.builder?.id;
  const hasActions = nodes.some((member) => (isViewer(member) ? !isLastAdmin : isAdmin));
  const columns = ['Name', 'Role', 'Member since', ...(hasActions ? ['Actions'] : [])];
  return (
    <>
      <Refusal problem={update.problem} />
      <Table label="Members" columns={columns}>
        {nodes.map((member) => {
          const { builder, role, createTime } = member;
          const isSelf = isViewer(member);
          const name = formatName(member);
          const key = { orgId: org.id, builderId: builder.id };
          return (
            <tr key={builder.id}>
              <td>
                <span className="strong">{name}</span> {isSelf && <span className="tag">You</span>}
                {builder.fullName && builder.primaryEmail && (
                  <div className="quiet">{builder.primaryEmail}</div>
                )}
              </td>
              <td>
                {isAdmin && !isSelf ? (
                  <Choice
                    label={`Role of ${name}`}
                    isLabelHidden
                    options={ROLES}
                    value={role}
                    isDisabled={update.isRunning}
                    onChange={(id) => update.run({ input: { ...key, role: parseRole(id) } })}
                  />
                ) : (
                  formatRole(role)
                )}
              </td>
              <td>
                <Time value={createTime} />
              </td>
              {hasActions && (
                <td>
                  {isSelf && !isLastAdmin && <Leave org={org} builderId={builder.id} />}
                  {isAdmin && !isSelf && (
                    <ConfirmChange<membersRemoveMutation>
                      triggerLabel="Remove"
                      title={`Remove ${name} from ${org.label}?`}
                      mutation={REMOVE_MEMBER}
                      variables={{ input: key }}
                    >
                      <p>
                        {name} loses access to all projects of the org within a second. API keys
                        stay: delete those whose value {name} knows.
                      </p>
                    </ConfirmChange>
                  )}
                </td>
              )}
            </tr>
          );
        })}
      </Table>
      <p className="quiet">
        Members work in all projects of the org. Admins also create and delete projects, and manage
        members, invites and domains.{' '}
        {isLastAdmin && 'You are the last admin: to leave, make another member an admin first.'}
        {org.viewerRole === 'MEMBER' && 'Ask an admin to change roles or to remove a member.'}
      </p>
    </>
  );
}

interface LeaveProps {
  org: Pick<members_org$data, 'id' | 'label'>;
  builderId: string;
}

function Leave({ org, builderId }: LeaveProps) {
  return (
    <ConfirmChange<membersRemoveMutation>
      triggerLabel="Leave"
      title={`Leave ${org.label}?`}
      mutation={REMOVE_MEMBER}
      variables={{ input: { orgId: org.id, builderId } }}
      leadsTo="/?all"
    >
      <p>
        You lose access to all projects of the org within a second. Only an admin can add you again.
      </p>
    </ConfirmChange>
  );
}
