/** Members, invites and domains of the org. */
import { graphql } from 'react-relay';
import type { orgSettingsClaimMutation } from '../../__generated__/orgSettingsClaimMutation.graphql.ts';
import type { orgSettingsInviteMutation } from '../../__generated__/orgSettingsInviteMutation.graphql.ts';
import type { orgSettingsQuery } from '../../__generated__/orgSettingsQuery.graphql.ts';
import type { orgSettingsRevokeMutation } from '../../__generated__/orgSettingsRevokeMutation.graphql.ts';
import type { orgSettingsVerifyMutation } from '../../__generated__/orgSettingsVerifyMutation.graphql.ts';
import { ChangeForm } from '../parts/change-form.tsx';
import { Action, Refusal, TextInput } from '../parts/form.tsx';
import { Empty, Panel } from '../parts/page.tsx';
import { useChange, usePageQuery } from '../parts/queries.ts';
import { Status } from '../parts/status.tsx';

const QUERY = graphql`
  query orgSettingsQuery($id: ID!) {
    org(id: $id) {
      id
      label
      builders(first: 100) {
        nodes {
          id
          fullName
          primaryEmail
        }
      }
      invites(first: 50, status: PENDING) {
        nodes {
          id
          invitedEmail
          status
        }
      }
      claimedDomains(first: 50) {
        nodes {
          id
          domain
          verifiedTime
          verificationText
        }
      }
    }
  }
`;

const INVITE = graphql`
  mutation orgSettingsInviteMutation($input: CreateInviteInput!) {
    createInvite(input: $input) {
      invite {
        id
      }
    }
  }
`;

const REVOKE = graphql`
  mutation orgSettingsRevokeMutation($input: DeleteInviteInput!) {
    deleteInvite(input: $input) {
      deletedId
    }
  }
`;

const CLAIM = graphql`
  mutation orgSettingsClaimMutation($input: ClaimDomainInput!) {
    claimDomain(input: $input) {
      claimedDomain {
        id
      }
    }
  }
`;

const VERIFY = graphql`
  mutation orgSettingsVerifyMutation($input: VerifyClaimedDomainInput!) {
    verifyClaimedDomain(input: $input) {
      claimedDomain {
        id
        verifiedTime
      }
    }
  }
`;

type OrgData = NonNullable<orgSettingsQuery['response']['org']>;

export function OrgSettings({ orgId }: { orgId: string }) {
  const { org } = usePageQuery<orgSettingsQuery>(QUERY, { id: orgId });
  if (!org) return null;
  return (
    <div className="grid spaced">
      <Panel title={`Members of ${org.label}`}>
        <ul className="plain-list">
          {org.builders.nodes.map(({ id, fullName, primaryEmail }) => (
            <li key={id}>
              <span className="strong">{fullName ?? primaryEmail}</span>
              <span className="quiet">{primaryEmail}</span>
            </li>
          ))}
        </ul>
        <Invites org={org} />
      </Panel>
      <Panel title="Domains">
        <Domains org={org} />
      </Panel>
    </div>
  );
}

function Invites({ org }: { org: OrgData }) {
  const revoke = useChange<orgSettingsRevokeMutation>(REVOKE);
  return (
    <>
      <ul className="plain-list">
        {org.invites.nodes.map(({ id, invitedEmail, status }) => (
          <li key={id}>
            <span>{invitedEmail}</span>
            <span className="row">
              <Status value={status} />
              <Action
                aria-label={`Revoke invite of ${invitedEmail}`}
                onPress={() => revoke.run({ input: { orgId: org.id, inviteId: id } })}
              >
                Revoke
              </Action>
            </span>
          </li>
        ))}
      </ul>
      <Refusal problem={revoke.problem} />
      <ChangeForm<orgSettingsInviteMutation>
        mutation={INVITE}
        variables={({ email }) => ({ input: { orgId: org.id, email: String(email) } })}
        submit="Send invite"
        clears
      >
        <TextInput name="email" label="E-mail address" type="email" isRequired />
      </ChangeForm>
    </>
  );
}

function Domains({ org }: { org: OrgData }) {
  const verify = useChange<orgSettingsVerifyMutation>(VERIFY);
  const { nodes } = org.claimedDomains;
  return (
    <>
      {nodes.length === 0 && (
        <Empty title="No domains yet">
          People with an e-mail address at a verified domain may join the org.
        </Empty>
      )}
      <ul className="plain-list">
        {nodes.map(({ id, domain, verifiedTime, verificationText }) => (
          <li key={id}>
            <span className="strong">{domain}</span>
            {verifiedTime ? (
              <Status value="ACTIVE" />
            ) : (
              <span>
                <code>{verificationText}</code> as a TXT record{' '}
                <Action onPress={() => verify.run({ input: { claimedDomainId: id } })}>
                  Verify
                </Action>
              </span>
            )}
          </li>
        ))}
      </ul>
      <Refusal problem={verify.problem} />
      <ChangeForm<orgSettingsClaimMutation>
        mutation={CLAIM}
        variables={({ domain }) => ({
          input: { parentId: org.id, parentType: 'ORG', domain: String(domain) },
        })}
        submit="Claim domain"
        clears
      >
        <TextInput name="domain" label="Domain" isRequired placeholder="example.com" />
      </ChangeForm>
    </>
  );
}
