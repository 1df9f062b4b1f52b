/** A page of operations, of the project or of one installation. */
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { operationsList_operation$key } from '../../__generated__/operationsList_operation.graphql.ts';
import { formatWords, Status } from '../parts/status.tsx';
import { Progress, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { OperationText } from './operation-text.tsx';

const ROW = graphql`
  fragment operationsList_operation on Operation @relay(plural: true) {
    id
    actionType
    status
    result
    createTime
    updateTime
    metadata {
      objects
      progress {
        objectName
        recordsProcessed
        recordsEstimatedTotal
      }
    }
    integration {
      name
    }
    installation {
      group {
        groupName
      }
    }
  }
`;

interface OperationsListProps {
  operations: operationsList_operation$key;
  linkTo: (path: string) => string;
}

const COLUMNS = ['Operation', 'Status', 'Integration', 'Group', 'Outcome', 'Started'];
const DETAIL_COLUMNS = ['Integration', 'Group', 'Outcome'];

export function OperationsList({ operations, linkTo }: OperationsListProps) {
  const rows = useFragment(ROW, operations);
  return (
    <Table label="Operations" columns={COLUMNS} detailColumns={DETAIL_COLUMNS}>
      {rows.map(({ id, actionType, status, result, createTime, metadata, ...row }) => (
        <tr key={id}>
          <td>
            <Link href={linkTo(`operations/${id}`)} className="strong">
              {formatWords(actionType)} {metadata.objects.join(', ')}
            </Link>
            <div className="subline quiet">
              {row.installation?.group.groupName}
              {status === 'FAILED' && (
                <>
                  {row.installation && ' · '}
                  <OperationText text={result} namedObjects={metadata.objects} />
                </>
              )}
            </div>
          </td>
          <td>
            <Status value={status} />
          </td>
          <td>{row.integration?.name ?? '—'}</td>
          <td>{row.installation?.group.groupName ?? '—'}</td>
          <td className="outcome">
            {status === 'IN_PROGRESS' && metadata.progress ? (
              <Progress
                label={`Progress of ${metadata.progress.objectName}`}
                completed={metadata.progress.recordsProcessed}
                total={metadata.progress.recordsEstimatedTotal}
              />
            ) : (
              <OperationText text={result} namedObjects={metadata.objects} />
            )}
          </td>
          <td>
            <Time value={createTime} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
