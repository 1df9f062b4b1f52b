/** The claimed domains of an org. People with an email address of a verified domain may join the org. */
import { graphql, useFragment } from 'react-relay';
import type { domains_org$key } from '../../__generated__/domains_org.graphql.ts';
import type { domainsClaimMutation } from '../../__generated__/domainsClaimMutation.graphql.ts';
import type { domainsVerifyMutation } from '../../__generated__/domainsVerifyMutation.graphql.ts';
import { ChangeForm } from '../parts/change-form.tsx';
import { Action, Refusal, TextInput } from '../parts/form.tsx';
import { Empty } from '../parts/page.tsx';
import { useChange } from '../parts/queries.ts';
import { Status } from '../parts/status.tsx';

const ORG = graphql`
  fragment domains_org on Org {
    id
    viewerRole
    claimedDomains(first: 50) {
      nodes {
        id
        domain
        verifiedTime
        verificationText
      }
    }
  }
`;

const CLAIM_DOMAIN = graphql`
  mutation domainsClaimMutation($input: ClaimDomainInput!) {
    claimDomain(input: $input) {
      claimedDomain {
        id
      }
    }
  }
`;

const VERIFY_CLAIMED_DOMAIN = graphql`
  mutation domainsVerifyMutation($input: VerifyClaimedDomainInput!) {
    verifyClaimedDomain(input: $input) {
      claimedDomain {
        id
        verifiedTime
      }
    }
  }
`;

export function Domains({ org: orgKey }: { org: domains_org$key }) {
  const org = useFragment(ORG, orgKey);
  const verify = useChange<domainsVerifyMutation>(VERIFY_CLAIMED_DOMAIN);
  const { nodes } = org.claimedDomains;
  const mayClaim = org.viewerRole === 'ADMIN';
  return (
    <>
      {nodes.length === 0 && (
        <Empty title="No domains yet">
          People with an email address at a verified domain may join the org.
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
                Add <code>{verificationText}</code> as a TXT record{' '}
                {mayClaim && (
                  <Action onPress={() => verify.run({ input: { claimedDomainId: id } })}>
                    Verify
                  </Action>
                )}
              </span>
            )}
          </li>
        ))}
      </ul>
      <Refusal problem={verify.problem} />
      {mayClaim ? (
        <ChangeForm<domainsClaimMutation>
          mutation={CLAIM_DOMAIN}
          variables={({ domain }) => ({
            input: { parentId: org.id, parentType: 'ORG', domain: String(domain) },
          })}
          submitLabel="Claim domain"
          clears
        >
          <TextInput name="domain" label="Domain" isRequired placeholder="example.com" />
        </ChangeForm>
      ) : (
        <p className="quiet">Only org admins can claim and verify domains.</p>
      )}
    </>
  );
}
