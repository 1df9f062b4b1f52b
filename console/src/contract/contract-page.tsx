/** The contract of the project: the objects and fields that code can rely on, across all integrations. */
import { graphql } from 'react-relay';
import type { contractPageQuery } from '../../__generated__/contractPageQuery.graphql.ts';
import { BASE } from '../network/connection-state.ts';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Snippet } from '../parts/snippet.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { ContractTable } from './contract-table.tsx';

const PAGE_QUERY = graphql`
  query contractPageQuery($project: String!) {
    project(idOrName: $project) {
      name
      contract {
        ...contractTable_contract
      }
      integrations(first: 100) {
        nodes {
          ...integrationName_integration @relay(mask: false)
        }
      }
    }
  }
`;

const FORMS = ['contract.d.ts', 'contract.graphql', 'contract.schema.json'];

export default function ContractPage({ project: projectIdOrName }: ConsolePageProps) {
  const variables = { project: projectIdOrName };
  const { project } = usePageQuery<contractPageQuery>(PAGE_QUERY, variables);
  if (!project) return <NotFound noun="project" />;
  const { contract, name, integrations } = project;
  const address = `${location.origin}${BASE}/v1/projects/${name}`;
  return (
    <Page
      title="Contract"
      description="The objects and fields that your code can rely on, merged from the latest revisions of all integrations."
      actions={
        <a
          className="action plain"
          href={`${BASE}/graphql/projects/${encodeURIComponent(name)}`}
          target="_blank"
          rel="noreferrer"
        >
          Query customers' records
        </a>
      }
      query={PAGE_QUERY}
      variables={variables}
    >
      <Panel title="Objects">
        {contract ? (
          <ContractTable contract={contract} integrations={integrations.nodes} />
        ) : (
          <Empty title="The contract could not be computed" />
        )}
      </Panel>
      <Panel title="For your build">
        <p className="quiet">
          Download these files in your build. The ETag of a file changes only with the contract.
        </p>
        {FORMS.map((file) => (
          <Snippet
            key={file}
            title={file}
            text={`curl -H "x-api-key: $GATEWAY_API_KEY" ${address}/${file}`}
          />
        ))}
      </Panel>
    </Page>
  );
}
