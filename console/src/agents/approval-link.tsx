/**
 * Creates a link to the connect page on which a customer approves or rejects a proposal. All consumers of the
 * group can use it.
 */
import { graphql } from 'react-relay';
import type { approvalLinkMutation } from '../../__generated__/approvalLinkMutation.graphql.ts';
import { CopyableValue, FormDialog } from '../parts/dialog.tsx';
import { TextInput } from '../parts/form.tsx';
import { Time } from '../parts/time.tsx';

const CREATE_SESSION_TOKEN = graphql`
  mutation approvalLinkMutation($input: CreateSessionTokenInput!) {
    createSessionToken(input: $input) {
      connectUrl
      expireTime
    }
  }
`;

const SESSION_TOKEN_LIFETIME_MAX_SECONDS = 3_600;

interface ApprovalLinkProps {
  project: string;
  proposalId: string;
  groupRef: string;
  /** The consumer that the agent works for. */
  consumerRef: string;
}

export function ApprovalLink({ project, proposalId, groupRef, consumerRef }: ApprovalLinkProps) {
  return (
    <FormDialog<approvalLinkMutation>
      triggerLabel="Approval link"
      title="Approval link"
      submitLabel="Create link"
      mutation={CREATE_SESSION_TOKEN}
      variables={(values) => ({
        input: {
          projectIdOrName: project,
          groupRef,
          consumerRef: String(values.consumerRef),
          permissions: ['APPROVE'],
          expiresInSeconds: SESSION_TOKEN_LIFETIME_MAX_SECONDS,
        },
      })}
      skipRefetch
      renderResult={({ createSessionToken: { connectUrl, expireTime } }) => (
        <CopyableValue
          explanation={
            <>
              Send it to the person who approves: the link expires{' '}
              <Time value={expireTime} isInSentence />.
            </>
          }
          value={`${connectUrl}&proposal=${proposalId}`}
          label="Approval link"
        />
      )}
    >
      <p className="quiet">
        The connect page shows the customer the values before and after, and asks for an approval.
        The link works for all pending proposals of the group.
      </p>
      <TextInput
        name="consumerRef"
        label="Consumer"
        isRequired
        defaultValue={consumerRef}
        help="Your own ID for the person who approves."
      />
    </FormDialog>
  );
}
