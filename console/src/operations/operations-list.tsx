/** Operations of the project or of one installation. */
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { operationsList_operation$key } from '../../__generated__/operationsList_operation.graphql.ts';
import { getIntegrationName } from '../parts/integration-name.ts';
import { Status } from '../parts/status.tsx';
import { Progress, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { getOperationName } from './operation-name.ts';
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
      ...integrationName_integration @relay(mask: false)
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
  /** True on the page of an installation, where the integration and the group would repeat the title. */
  isOfInstallation?: boolean;
}

const DETAIL_COLUMNS = ['Integration', 'Group', 'Outcome'];

export function OperationsList(props: OperationsListProps) {
  const { operations, linkTo, isOfInstallation = false } = props;
  const rows = useFragment(ROW, operations);
  const parties = isOfInstallation ? [] : ['Integration', 'Group'];
  const columns = ['Operation', 'Status', ...parties, 'Outcome', 'Started'];
  return (
    <Table label="Operations" columns={columns} detailColumns={DETAIL_COLUMNS}>
      {rows.map(({ id, actionType, status, result, createTime, metadata, ...row }) => (
        <tr key={id}>
          <td>
            <Link href={linkTo(`operations/${id}`)} className="strong">
              {getOperationName(actionType, metadata.objects)}
            </Link>
            <div className="subline quiet">
              {!isOfInstallation && row.installation?.group.groupName}
              {status === 'FAILED' && (
                <>
                  {!isOfInstallation && row.installation && ' · '}
                  <OperationText text={result} namedObjects={metadata.objects} />
                </>
              )}
            </div>
          </td>
          <td>
            <Status value={status} />
          </td>
          {!isOfInstallation && (
            <>
              <td>{row.integration ? getIntegrationName(row.integration) : '—'}</td>
              <td>{row.installation?.group.groupName ?? '—'}</td>
            </>
          )}
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
