/** The proposals of agents that wait for the customer's approval. */
import { useEffect, useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { approvalsQuery } from '../__generated__/approvalsQuery.graphql.ts';
import { usePageQuery } from '../src/parts/queries.ts';
import { ApprovalCard } from './approval-card.tsx';
import { useMessages } from './messages.ts';

const QUERY = graphql`
  query approvalsQuery($id: ID!, $isNamed: Boolean!) {
    viewer {
      project {
        proposals(status: PENDING, first: 50) {
          nodes {
            id
            ...approvalCard_proposal
          }
        }
      }
    }
    node(id: $id) @include(if: $isNamed) {
      ... on Proposal @alias(as: "proposal") {
        id
        ...approvalCard_proposal
      }
    }
  }
`;

const POLL_MS = 3_000;

interface ApprovalsProps {
  /** The proposal that the link names, which is shown first. */
  proposalId: string | null;
}

export function Approvals({ proposalId }: ApprovalsProps) {
  const messages = useMessages();
  const variables = { id: proposalId ?? '', isNamed: proposalId !== null };
  const { viewer, node } = usePageQuery<approvalsQuery>(QUERY, variables, { everyMs: POLL_MS });
  const [decidedIds, setDecidedIds] = useState<readonly string[]>([]);
  const [outcomeText, setOutcomeText] = useState('');
  const outcome = useRef<HTMLOutputElement>(null);
  // The pressed button disappears with its card, so the focus moves to the outcome.
  useEffect(() => {
    if (decidedIds.length > 0) outcome.current?.focus();
  }, [decidedIds]);
  const pending = viewer.project?.proposals?.nodes ?? [];
  const named = node?.proposal ? [node.proposal] : [];
  const proposals = [...named, ...pending.filter(({ id }) => id !== proposalId)].filter(
    ({ id }) => !decidedIds.includes(id),
  );
  return (
    <section aria-label={messages.waitingForApproval}>
      <output ref={outcome} tabIndex={-1} className="decided">
        {outcomeText}
      </output>
      {variables.isNamed && named.length === 0 && (
        <p className="card">{messages.proposalMissing}</p>
      )}
      {proposals.length === 0 && <p className="card">{messages.nothingToApprove}</p>}
      {proposals.map((proposal, index) => (
        <ApprovalCard
          key={proposal.id}
          proposal={proposal}
          position={index + 1}
          onDecided={(text) => {
            setOutcomeText(text);
            setDecidedIds([...decidedIds, proposal.id]);
          }}
        />
      ))}
    </section>
  );
}
