/** A table of installations with their health. */
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { installationRows_installation$key } from '../../__generated__/installationRows_installation.graphql.ts';
import { getIntegrationName } from '../parts/integration-name.ts';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

const ROW = graphql`
  fragment installationRows_installation on Installation @relay(plural: true) {
    id
    healthStatus
    healthReason
    createTime
    group {
      groupName
    }
    integration {
      ...integrationName_integration @relay(mask: false)
    }
    connection {
      status
    }
    lastOperation {
      createTime
    }
  }
`;

interface InstallationRowsProps {
  installations: installationRows_installation$key;
  linkTo: (path: string) => string;
  /** The kind of page that shows the rows. Columns that would repeat its title are omitted. */
  parent?: 'group' | 'connection' | 'integration';
}

const DETAIL_COLUMNS = ['Integration', 'Connection', 'Created'];

export function InstallationRows({ installations, linkTo, parent }: InstallationRowsProps) {
  const rows = useFragment(ROW, installations);
  const isOfGroup = parent === 'group' || parent === 'connection';
  const showsIntegration = parent === undefined;
  const showsConnection = parent !== 'connection';
  const columns = [
    isOfGroup ? 'Installation' : 'Group',
    'Health',
    ...(showsIntegration ? ['Integration'] : []),
    ...(showsConnection ? ['Connection'] : []),
    'Last operation',
    'Created',
  ];
  return (
    <Table label="Installations" columns={columns} detailColumns={DETAIL_COLUMNS}>
      {rows.map(({ id, group, integration, healthStatus, healthReason, ...row }) => (
        <tr key={id}>
          <td>
            <Link href={linkTo(`installations/${id}`)} className="strong">
              {isOfGroup ? getIntegrationName(integration) : group.groupName}
            </Link>
            {showsIntegration && (
              <div className="subline quiet">{getIntegrationName(integration)}</div>
            )}
          </td>
          <td>
            <Status value={healthStatus} /> <span className="quiet">{healthReason}</span>
          </td>
          {showsIntegration && <td>{getIntegrationName(integration)}</td>}
          {showsConnection && (
            <td>
              <Status value={row.connection.status} />
            </td>
          )}
          <td>
            <Time value={row.lastOperation?.createTime} none="none yet" />
          </td>
          <td>
            <Time value={row.createTime} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
