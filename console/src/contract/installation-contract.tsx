/** The contract of one customer's account. It is loaded separately, because the provider may have to describe objects. */
import { graphql } from 'react-relay';
import type { installationContractQuery } from '../../__generated__/installationContractQuery.graphql.ts';
import { Empty } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { ContractTable } from './contract-table.tsx';

const QUERY = graphql`
  query installationContractQuery($id: ID!) {
    node(id: $id) {
      ... on Installation @alias(as: "installation") {
        contract {
          ...contractTable_contract
        }
      }
    }
  }
`;

export function InstallationContract({ id }: { id: string }) {
  const { node } = usePageQuery<installationContractQuery>(QUERY, { id });
  const contract = node?.installation?.contract;
  if (!contract) return <Empty title="The contract could not be computed" />;
  return <ContractTable contract={contract} />;
}
