/** Lists the changes of the contract from one revision to another, and their effect on code that uses it. */
import { graphql, useFragment } from 'react-relay';
import type { contractDifferenceQuery } from '../../__generated__/contractDifferenceQuery.graphql.ts';
import type { contractTable_contract$key } from '../../__generated__/contractTable_contract.graphql.ts';
import { usePageQuery } from '../parts/queries.ts';
import { compareContracts } from './compare-contracts.ts';
import { CONTRACT } from './contract-table.tsx';

const QUERY = graphql`
  query contractDifferenceQuery($from: ID!, $to: ID!) {
    from: node(id: $from) {
      ... on Revision @alias(as: "revision") {
        contract {
          ...contractTable_contract
        }
      }
    }
    to: node(id: $to) {
      ... on Revision @alias(as: "revision") {
        contract {
          ...contractTable_contract
        }
      }
    }
  }
`;

export function ContractDifference(variables: { from: string; to: string }) {
  const { from, to } = usePageQuery<contractDifferenceQuery>(QUERY, variables);
  const [before, after] = [from?.revision?.contract, to?.revision?.contract];
  if (!before || !after) return null;
  return <Differences from={before} to={after} />;
}

type Contracts = Record<'from' | 'to', contractTable_contract$key>;

function Differences({ from, to }: Contracts) {
  const before = useFragment(CONTRACT, from).objects;
  const after = useFragment(CONTRACT, to).objects;
  const differences = compareContracts(before, after);
  if (differences.length === 0) return <p className="quiet">The contract stays the same.</p>;
  return (
    <ul className="issues" aria-label="Changes of the contract">
      {differences.map(({ path, change }) => (
        <li key={`${path} ${change}`}>
          <code>{path}</code> {change}.
        </li>
      ))}
    </ul>
  );
}
