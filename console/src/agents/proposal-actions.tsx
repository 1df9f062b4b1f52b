/** The buttons that approve, reject and commit a proposal. */
import { graphql, useFragment } from 'react-relay';
import type { proposalActions_proposal$key } from '../../__generated__/proposalActions_proposal.graphql.ts';
import type { proposalActionsApproveMutation } from '../../__generated__/proposalActionsApproveMutation.graphql.ts';
import type { proposalActionsCommitMutation } from '../../__generated__/proposalActionsCommitMutation.graphql.ts';
import type { proposalActionsRejectMutation } from '../../__generated__/proposalActionsRejectMutation.graphql.ts';
import { Confirm, FormDialog } from '../parts/dialog.tsx';
import { Action, Refusal, TextInput } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';
import { ApprovalLink } from './approval-link.tsx';

const PROPOSAL = graphql`
  fragment proposalActions_proposal on Proposal {
    id
    status
    payloadHash
    group {
      groupRef
    }
    consumer {
      consumerRef
    }
  }
`;

const APPROVE_PROPOSAL = graphql`
  mutation proposalActionsApproveMutation($input: ApproveProposalInput!) {
    approveProposal(input: $input) {
      proposal {
        id
        status
      }
    }
  }
`;

const REJECT_PROPOSAL = graphql`
  mutation proposalActionsRejectMutation($input: RejectProposalInput!) {
    rejectProposal(input: $input) {
      proposal {
        id
        status
      }
    }
  }
`;

const COMMIT_PROPOSAL = graphql`
  mutation proposalActionsCommitMutation($input: CommitProposalInput!) {
    commitProposal(input: $input) {
      proposal {
        id
        status
      }
    }
  }
`;

interface ProposalActionsProps {
  project: string;
  proposal: proposalActions_proposal$key;
}

export function ProposalActions({ project, ...props }: ProposalActionsProps) {
  const { id, status, payloadHash, group, consumer } = useFragment(PROPOSAL, props.proposal);
  const approve = useChange<proposalActionsApproveMutation>(APPROVE_PROPOSAL);
  const commit = useChange<proposalActionsCommitMutation>(COMMIT_PROPOSAL);
  const input = { projectIdOrName: project, proposalId: id };
  const isPending = status === 'PENDING';
  const isApproved = status === 'APPROVED';
  return (
    <div className="decisions">
      <Refusal problem={approve.problem ?? commit.problem} />
      {(isPending || isApproved) && (
        <div className="row">
          {isPending && (
            <Action
              kind="primary"
              isPending={approve.isRunning}
              onPress={() => approve.run({ input })}
            >
              Approve
            </Action>
          )}
          {isApproved && (
            <Confirm
              triggerLabel="Commit"
              kind="primary"
              title="Commit the proposal?"
              change={commit}
              onConfirm={() => commit.run({ input: { ...input, payloadHash } })}
            >
              <p>
                This writes the record immediately. The commit fails if the record has changed since
                the proposal was created.
              </p>
            </Confirm>
          )}
          <FormDialog<proposalActionsRejectMutation>
            triggerLabel="Reject"
            kind="danger"
            title="Reject the proposal?"
            submitLabel="Reject"
            mutation={REJECT_PROPOSAL}
            variables={({ reason }) => ({ input: { ...input, reason: String(reason) } })}
          >
            <p>A rejected proposal cannot be committed.</p>
            <TextInput
              name="reason"
              label="Reason"
              lines={3}
              help="Optional. Visible to the agent and other users."
            />
          </FormDialog>
          {isPending && (
            <ApprovalLink
              project={project}
              proposalId={id}
              groupRef={group.groupRef}
              consumerRef={consumer?.consumerRef ?? ''}
            />
          )}
        </div>
      )}
    </div>
  );
}
