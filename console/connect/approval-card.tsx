/** One proposal in the customer's words: the values before and after, and the buttons that approve or reject it. */
import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { approvalCard_proposal$key } from '../__generated__/approvalCard_proposal.graphql.ts';
import type { approvalCardApproveMutation } from '../__generated__/approvalCardApproveMutation.graphql.ts';
import type { approvalCardLabelsQuery } from '../__generated__/approvalCardLabelsQuery.graphql.ts';
import type { approvalCardRejectMutation } from '../__generated__/approvalCardRejectMutation.graphql.ts';
import { FieldChanges } from '../src/parts/field-changes.tsx';
import { Action, Form, Refusal, TextInput } from '../src/parts/form.tsx';
import { Loaded } from '../src/parts/page.tsx';
import { useChange, usePageQuery } from '../src/parts/queries.ts';
import { DueTime } from '../src/parts/time.tsx';
import { useCustomerProblem } from './customer-problem.ts';
import { type Messages, useMessages } from './messages.ts';

const PROPOSAL = graphql`
  fragment approvalCard_proposal on Proposal {
    id
    status
    type
    objectName
    recordId
    reason
    expireTime
    fields {
      name
      before
      after
    }
    project {
      id
      appName
    }
    installation {
      id
    }
    agentSession {
      name
    }
  }
`;

/** The names of the object and its fields in the customer's account. */
const LABELS = graphql`
  query approvalCardLabelsQuery($installation: ID!) {
    node(id: $installation) {
      ... on Installation @alias(as: "installation") {
        contract {
          objects {
            name
            displayName
            fields {
              name
              description
            }
          }
        }
      }
    }
  }
`;

const APPROVE_PROPOSAL = graphql`
  mutation approvalCardApproveMutation($input: ApproveProposalInput!) {
    approveProposal(input: $input) {
      proposal {
        id
        status
      }
    }
  }
`;

const REJECT_PROPOSAL = graphql`
  mutation approvalCardRejectMutation($input: RejectProposalInput!) {
    rejectProposal(input: $input) {
      proposal {
        id
        status
      }
    }
  }
`;

interface ApprovalCardProps {
  proposal: approvalCard_proposal$key;
  /** The position on the page, from 1, which distinguishes similar proposals for screen readers. */
  position: number;
  /** Receives the decision as a sentence. */
  onDecided: (text: string) => void;
}

interface Labels {
  displayName?: string | null;
  fields: readonly { name: string; description?: string | null }[];
}

const NO_LABELS: Labels = { fields: [] };

/** Shows the builder's names if the account can't describe its objects. */
export function ApprovalCard(props: ApprovalCardProps) {
  const { installation, objectName } = useFragment(PROPOSAL, props.proposal);
  const unlabeledCard = <LabeledCard {...props} labels={NO_LABELS} />;
  if (!installation) return unlabeledCard;
  return (
    <Loaded resetKey={installation.id} errorFallback={unlabeledCard}>
      <DescribedCard {...props} installationId={installation.id} objectName={objectName} />
    </Loaded>
  );
}

interface DescribedCardProps extends ApprovalCardProps {
  installationId: string;
  objectName: string;
}

function DescribedCard({ installationId, objectName, ...props }: DescribedCardProps) {
  const variables = { installation: installationId };
  const { node } = usePageQuery<approvalCardLabelsQuery>(LABELS, variables);
  const objects = node?.installation?.contract?.objects ?? [];
  const labels = objects.find(({ name }) => name === objectName) ?? NO_LABELS;
  return <LabeledCard {...props} labels={labels} />;
}

interface LabeledCardProps extends ApprovalCardProps {
  labels: Labels;
}

function LabeledCard({ labels, position, onDecided, ...props }: LabeledCardProps) {
  const messages = useMessages();
  const proposal = useFragment(PROPOSAL, props.proposal);
  const { status, recordId, reason, project, agentSession, fields } = proposal;
  const title = formatTitle(proposal.type, labels.displayName ?? proposal.objectName, messages);
  const findLabel = (name: string) =>
    labels.fields.find((field) => field.name === name)?.description ?? name;
  return (
    <article className="card" aria-label={`${position}. ${title}`}>
      <h2>{title}</h2>
      <p className="quiet">
        {messages.proposedBy(agentSession?.name ?? project.appName)}
        {recordId && `, ${messages.record(recordId)}`}
        {status === 'PENDING' && (
          <>
            , {messages.expires} <DueTime value={proposal.expireTime} />
          </>
        )}
      </p>
      {reason && <p className="quoted">{reason}</p>}
      {fields.length > 0 && (
        <FieldChanges
          label={`${position}. ${title}`}
          changes={fields.map((field) => ({ ...field, label: findLabel(field.name) }))}
        />
      )}
      {status === 'PENDING' ? (
        <Decision
          input={{ projectIdOrName: project.id, proposalId: proposal.id }}
          title={title}
          onDecided={onDecided}
        />
      ) : (
        <p className="strong">{formatOutcome(status, messages)}</p>
      )}
    </article>
  );
}

function formatTitle(type: string, object: string, messages: Messages): string {
  if (type === 'CREATE') return messages.createRecord(object);
  return type === 'DELETE' ? messages.deleteRecord(object) : messages.updateRecord(object);
}

function formatOutcome(status: string, messages: Messages): string {
  const texts: Record<string, string> = {
    REJECTED: messages.alreadyRejected,
    COMMITTED: messages.alreadyCommitted,
    EXPIRED: messages.proposalExpired,
    STALE: messages.recordChanged,
  };
  return texts[status] ?? messages.alreadyApproved;
}

interface DecisionProps {
  input: { projectIdOrName: string; proposalId: string };
  title: string;
  onDecided: (text: string) => void;
}

function Decision({ input, title, onDecided }: DecisionProps) {
  const messages = useMessages();
  const [step, setStep] = useState<'START' | 'REJECTING' | 'CANCELLED'>('START');
  const approve = useChange<approvalCardApproveMutation>(APPROVE_PROPOSAL);
  const reject = useChange<approvalCardRejectMutation>(REJECT_PROPOSAL);
  const problem = useCustomerProblem(step === 'REJECTING' ? reject.problem : approve.problem);
  if (step === 'REJECTING') {
    const rejectAndReport = async ({ reason }: Record<string, FormDataEntryValue>) => {
      const response = await reject.run({ input: { ...input, reason: String(reason) } });
      if (response) onDecided(`${messages.rejected}: ${title}`);
    };
    return (
      <div className="decisions">
        <Form onSubmit={rejectAndReport}>
          <TextInput
            name="reason"
            label={messages.reason}
            lines={3}
            help={messages.reasonHelp}
            isFocused
          />
          <Refusal problem={problem} />
          <div className="row">
            <Action type="submit" kind="danger" isPending={reject.isRunning}>
              {messages.reject}
            </Action>
            <Action onPress={() => setStep('CANCELLED')}>{messages.cancel}</Action>
          </div>
        </Form>
      </div>
    );
  }
  const approveAndReport = async () => {
    if (await approve.run({ input })) onDecided(`${messages.approved}: ${title}`);
  };
  return (
    <div className="decisions">
      <Refusal problem={problem} />
      <div className="row">
        <Action kind="primary" isPending={approve.isRunning} onPress={approveAndReport}>
          {messages.approve}
        </Action>
        {/* After a cancellation, the focus returns to the button that opened the form. */}
        <Action kind="danger" autoFocus={step === 'CANCELLED'} onPress={() => setStep('REJECTING')}>
          {messages.reject}
        </Action>
      </div>
    </div>
  );
}
