/** The members of an org with their roles. A member may remove others, and may leave. */
import { graphql, useFragment } from 'react-relay';
import type { members_org$key } from '../../__generated__/members_org.graphql.ts';
import type { members_query$key } from '../../__generated__/members_query.graphql.ts';
import type { membersRemoveMutation } from '../../__generated__/membersRemoveMutation.graphql.ts';
import { ConfirmChange } from '../parts/dialog.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

const ORG = graphql`
  fragment members_org on Org {
    id
    label
    builders(first: 100) {
      nodes {
        id
        fullName
        primaryEmail
        createTime
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

const REMOVE = graphql`
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

export function Members({ org: orgKey, query }: MembersProps) {
  const org = useFragment(ORG, orgKey);
  const { viewer } = useFragment(VIEWER, query);
  const { nodes } = org.builders;
  return (
    <>
      <Table label="Members" columns={['Name', 'Role', 'Actions', 'First sign-in']}>
        {nodes.map(({ id, fullName, primaryEmail, createTime }) => {
          const isReader = id === viewer.builder?.id;
          const name = fullName ?? primaryEmail ?? id;
          return (
            <tr key={id}>
              <td>
                <span className="strong">{name}</span>{' '}
                {isReader && <span className="tag">You</span>}
                {fullName && primaryEmail && <div className="quiet">{primaryEmail}</div>}
              </td>
              <td>Admin</td>
              <td>
                {viewer.builder && nodes.length > 1 && (
                  <ConfirmChange<membersRemoveMutation>
                    triggerLabel={isReader ? 'Leave' : 'Remove'}
                    title={isReader ? `Leave ${org.label}?` : `Remove ${name} from ${org.label}?`}
                    mutation={REMOVE}
                    variables={{ input: { orgId: org.id, builderId: id } }}
                    {...(isReader && { leadsTo: '/?all' })}
                  >
                    <p>
                      {isReader ? 'You lose' : `${name} loses`} access to all projects of the org
                      within a second. Only a member can add {isReader ? 'you' : 'them'} again.
                    </p>
                  </ConfirmChange>
                )}
              </td>
              <td>
                <Time value={createTime} />
              </td>
            </tr>
          );
        })}
      </Table>
      <p className="quiet">
        Every member is an admin: they may do everything in the org and its projects. For less, give
        out API keys with scopes.
      </p>
    </>
  );
}
