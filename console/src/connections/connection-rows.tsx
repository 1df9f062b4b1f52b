/** A table of connections with their status. */
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { connectionRows_connection$key } from '../../__generated__/connectionRows_connection.graphql.ts';
import { ProviderName, useProviderNames } from '../parts/provider-mark.tsx';
import { getSchemeName, Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

const ROW = graphql`
  fragment connectionRows_connection on ConnectedAccount @relay(plural: true) {
    id
    provider
    status
    authScheme
    createTime
    group {
      groupName
    }
    consumer {
      consumerName
    }
  }
`;

interface ConnectionRowsProps {
  connections: connectionRows_connection$key;
  linkTo: (path: string) => string;
  /** True on the page of a group, where a column with the group would repeat the title. */
  isOfGroup?: boolean;
}

const COLUMNS = ['Group', 'Status', 'Provider', 'Consumer', 'Authentication', 'Created'];
const GROUP_COLUMNS = ['Connection', 'Status', 'Consumer', 'Authentication', 'Created'];
const DETAIL_COLUMNS = ['Provider', 'Consumer', 'Authentication'];

export function ConnectionRows({ connections, linkTo, isOfGroup = false }: ConnectionRowsProps) {
  const rows = useFragment(ROW, connections);
  const getProviderName = useProviderNames();
  return (
    <Table
      label="Connections"
      columns={isOfGroup ? GROUP_COLUMNS : COLUMNS}
      detailColumns={DETAIL_COLUMNS}
    >
      {rows.map(({ id, group, consumer, provider, status, authScheme, createTime }) => (
        <tr key={id}>
          <td>
            <Link href={linkTo(`connections/${id}`)} className="strong">
              {isOfGroup ? <ProviderName provider={provider} /> : group.groupName}
            </Link>
            {!isOfGroup && <div className="subline quiet">{getProviderName(provider)}</div>}
          </td>
          <td>
            <Status value={status} />
          </td>
          {!isOfGroup && (
            <td>
              <ProviderName provider={provider} />
            </td>
          )}
          <td>{consumer.consumerName}</td>
          <td>{getSchemeName(authScheme)}</td>
          <td>
            <Time value={createTime} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
