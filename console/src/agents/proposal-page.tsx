/**
 * One proposal: the values before and after, the decision with its reason, and the operation that wrote it.
 */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { proposalPageQuery } from '../../__generated__/proposalPageQuery.graphql.ts';
import { OperationText } from '../operations/operation-text.tsx';
import { Copyable, CopyableLink } from '../parts/copy.tsx';
import { FieldChanges } from '../parts/field-changes.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { Principal } from '../parts/principal.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { formatWords, Status } from '../parts/status.tsx';
import { Facts } from '../parts/table.tsx';
import { DueTime, Time } from '../parts/time.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { ProposalActions } from './proposal-actions.tsx';

const PAGE_QUERY = graphql`
  query proposalPageQuery($id: ID!) {
    node(id: $id) {
      ... on Proposal @alias(as: "proposal") {
        id
        status
        type
        objectName
        recordId
        reason
        createdBy
        rule
        decidedBy
        decideTime
        decisionReason
        committedBy
        createTime
        expireTime
        fields {
          name
          before
          after
        }
        omittedFields
        group {
          groupRef
          groupName
        }
        consumer {
          consumerName
        }
        installation {
          id
        }
        operation {
          id
          status
          result
        }
        ...proposalActions_proposal
      }
    }
  }
`;

const POLL_MS = 3_000;

const STATUS_TEXTS: Record<string, string> = {
  PENDING: 'It waits for an approval.',
  APPROVED: 'It can be committed, by the agent or here.',
  COMMITTING: 'The gateway is writing it.',
  COMMITTED: 'Its write has ended. The operation has the outcome.',
  REJECTED: 'It will not be written.',
  EXPIRED: 'It was not committed in time. It will not be written.',
  STALE: 'The record had changed since the proposal was created. Nothing was written.',
};

export default function ProposalPage({ project, id = '' }: ConsolePageProps) {
  const variables = { id };
  const { node } = usePageQuery<proposalPageQuery>(PAGE_QUERY, variables, { everyMs: POLL_MS });
  const linkTo = useProjectLink(project);
  const proposal = node?.proposal;
  if (!proposal) return <NotFound noun="proposal" />;
  const { status, group, consumer, installation, operation, fields } = proposal;
  const isExpiring = status === 'PENDING' || status === 'APPROVED';
  const decision = status === 'REJECTED' ? 'Rejected' : 'Approved';
  const title = `${formatWords(proposal.type)} ${proposal.objectName}`;
  return (
    <Page title={title} description={STATUS_TEXTS[status]} query={PAGE_QUERY} variables={variables}>
      <Panel>
        <Facts
          facts={{
            Status: <Status value={status} />,
            Group: (
              <Link href={linkTo(`groups/${encodeURIComponent(group.groupRef)}`)}>
                {group.groupName}
              </Link>
            ),
            'End user': consumer?.consumerName,
            Record: proposal.recordId && <Copyable value={proposal.recordId} label="record ID" />,
            Proposed: <Time value={proposal.createTime} />,
            'Proposed by': <Principal value={proposal.createdBy} />,
            'Fields not written': proposal.omittedFields.join(', ') || null,
            Expires: isExpiring ? <DueTime value={proposal.expireTime} /> : null,
            [decision]: proposal.decideTime && <Time value={proposal.decideTime} />,
            [`${decision} by`]: proposal.decidedBy && <Principal value={proposal.decidedBy} />,
            Rule: proposal.rule,
            'Reason of the decision': proposal.decisionReason,
            'Committed by': proposal.committedBy && <Principal value={proposal.committedBy} />,
            Operation: operation && (
              <Link href={linkTo(`operations/${operation.id}`)}>
                <Status value={operation.status} />
              </Link>
            ),
            Outcome: operation?.result && (
              <OperationText text={operation.result} namedObjects={[proposal.objectName]} />
            ),
            Installation: installation && (
              <CopyableLink
                href={linkTo(`installations/${installation.id}`)}
                value={installation.id}
                label="installation ID"
              />
            ),
            ID: <Copyable value={proposal.id} label="ID" />,
          }}
        />
      </Panel>
      <Panel title="Changes">
        <p className="quoted">
          {proposal.reason ?? <span className="quiet">The agent gave no reason.</span>}
        </p>
        {fields.length === 0 ? (
          <Empty title="No fields" />
        ) : (
          <FieldChanges
            label={title}
            changes={fields.map((field) => ({ ...field, label: field.name }))}
          />
        )}
        <ProposalActions project={project} proposal={proposal} />
      </Panel>
    </Page>
  );
}
