/** The pending invites of an org, and a form for new ones. Only admins and API keys create and revoke invites. */
import { graphql, useFragment } from 'react-relay';
import type { invites_org$key } from '../../__generated__/invites_org.graphql.ts';
import type { invitesCreateMutation } from '../../__generated__/invitesCreateMutation.graphql.ts';
import type { invitesRevokeMutation } from '../../__generated__/invitesRevokeMutation.graphql.ts';
import { ChangeForm } from '../parts/change-form.tsx';
import { ConfirmChange } from '../parts/dialog.tsx';
import { Choice, TextInput } from '../parts/form.tsx';
import { Empty } from '../parts/page.tsx';
import { Time } from '../parts/time.tsx';
import { formatRole, parseRole, ROLES } from './roles.ts';

const ORG = graphql`
  fragment invites_org on Org {
    id
    viewerRole
    invites(first: 50, status: PENDING) {
      nodes {
        id
        invitedEmail
        role
        createTime
      }
    }
  }
`;

const CREATE_INVITE = graphql`
  mutation invitesCreateMutation($input: CreateInviteInput!) {
    createInvite(input: $input) {
      invite {
        id
      }
    }
  }
`;

const DELETE_INVITE = graphql`
  mutation invitesRevokeMutation($input: DeleteInviteInput!) {
    deleteInvite(input: $input) {
      deletedId
    }
  }
`;

export function Invites({ org: orgKey }: { org: invites_org$key }) {
  const org = useFragment(ORG, orgKey);
  const mayInvite = org.viewerRole !== 'MEMBER';
  return (
    <>
      {org.invites.nodes.length === 0 && <Empty title="No pending invites" />}
      <ul className="plain-list">
        {org.invites.nodes.map(({ id, invitedEmail, role, createTime }) => (
          <li key={id}>
            <span>
              <span className="strong">{invitedEmail}</span>{' '}
              <span className="tag">{formatRole(role)}</span>
            </span>
            <span className="row">
              <span className="quiet">
                Invited <Time value={createTime} />
              </span>
              {mayInvite && (
                <ConfirmChange<invitesRevokeMutation>
                  triggerLabel="Revoke"
                  title={`Revoke the invite of ${invitedEmail}?`}
                  mutation={DELETE_INVITE}
                  variables={{ input: { orgId: org.id, inviteId: id } }}
                >
                  <p>The invite can no longer be accepted. You can invite the address again.</p>
                </ConfirmChange>
              )}
            </span>
          </li>
        ))}
      </ul>
      {mayInvite ? (
        <ChangeForm<invitesCreateMutation>
          mutation={CREATE_INVITE}
          variables={({ email, role }) => ({
            input: { orgId: org.id, email: String(email), role: parseRole(role) },
          })}
          submitLabel="Invite"
          kind="primary"
          clears
        >
          <TextInput
            name="email"
            label="Email address"
            type="email"
            isRequired
            help="No email is sent: send the person the address of this console. After signing in with this email address, they can accept the invite for 7 days."
          />
          {org.viewerRole === 'ADMIN' && (
            <Choice name="role" label="Role" options={ROLES} defaultValue="MEMBER" />
          )}
        </ChangeForm>
      ) : (
        <p className="quiet">Only org admins can invite people and revoke invites.</p>
      )}
    </>
  );
}
