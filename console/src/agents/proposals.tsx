/** The proposals of the project's agents, newest first. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type {
  proposals_project$data,
  proposals_project$key,
} from '../../__generated__/proposals_project.graphql.ts';
import { Empty } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { formatWords, Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { DueTime, Time } from '../parts/time.tsx';

const PROPOSALS = graphql`
  fragment proposals_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    status: { type: "ProposalStatus" }
  )
  @refetchable(queryName: "proposalsNextQuery") {
    proposals(first: $count, after: $cursor, status: $status)
      @connection(key: "proposals_proposals") {
      totalCount
      edges {
        node {
          id
          status
          type
          objectName
          createTime
          expireTime
          group {
            groupName
          }
          agentSession {
            name
          }
        }
      }
    }
  }
`;

interface ProposalsProps {
  project: proposals_project$key;
  isFiltered: boolean;
  linkTo: (path: string) => string;
}

const COLUMNS = ['Proposal', 'Status', 'Group', 'Agent', 'Created', 'Expires'];
const DETAIL_COLUMNS = ['Group', 'Agent', 'Expires'];
/** Statuses whose proposals can still expire. */
const EXPIRING = ['PENDING', 'APPROVED'];

const getProposals = ({ proposals }: proposals_project$data) => proposals;

export function Proposals({ project, isFiltered, linkTo }: ProposalsProps) {
  const empty = isFiltered ? (
    <Empty title="No proposals of this status" />
  ) : (
    <Empty title="No proposals yet">
      An agent proposes a write through its tools, or your backend calls createProposal.
    </Empty>
  );
  return (
    <Paged fragment={PROPOSALS} parent={project} list={getProposals} empty={empty}>
      {(proposals) => (
        <Table label="Proposals" columns={COLUMNS} detailColumns={DETAIL_COLUMNS}>
          {proposals.map(({ id, status, type, objectName, group, agentSession, ...row }) => (
            <tr key={id}>
              <td>
                <Link href={linkTo(`agents/${id}`)} className="strong">
                  {formatWords(type)} {objectName}
                </Link>
                <div className="subline quiet">{group.groupName}</div>
              </td>
              <td>
                <Status value={status} />
              </td>
              <td>{group.groupName}</td>
              <td>{agentSession?.name ?? '—'}</td>
              <td>
                <Time value={row.createTime} />
              </td>
              <td>
                <DueTime value={EXPIRING.includes(status) ? row.expireTime : null} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Paged>
  );
}
