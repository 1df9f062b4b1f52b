/** Installations with their health. */
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { installationRows_installation$key } from '../../__generated__/installationRows_installation.graphql.ts';
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
      name
    }
    connection {
      status
    }
    lastOperation {
      id
      status
      createTime
    }
  }
`;

interface InstallationRowsProps {
  installations: installationRows_installation$key;
  linkTo: (path: string) => string;
}

const COLUMNS = ['Group', 'Health', 'Integration', 'Connection', 'Last operation', 'Created'];
const DETAIL_COLUMNS = ['Integration', 'Connection', 'Created'];

export function InstallationRows({ installations, linkTo }: InstallationRowsProps) {
  const rows = useFragment(ROW, installations);
  return (
    <Table label="Installations" columns={COLUMNS} detailColumns={DETAIL_COLUMNS}>
      {rows.map(({ id, group, integration, healthStatus, healthReason, ...row }) => (
        <tr key={id}>
          <td>
            <Link href={linkTo(`installations/${id}`)} className="strong">
              {group.groupName}
            </Link>
            <div className="subline quiet">{integration.name}</div>
          </td>
          <td>
            <Status value={healthStatus} /> <span className="quiet">{healthReason}</span>
          </td>
          <td>{integration.name}</td>
          <td>
            <Status value={row.connection.status} />
          </td>
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
