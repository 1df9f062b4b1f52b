/** The installations of the project. */
import { graphql, usePaginationFragment } from 'react-relay';
import type { installationsPage_project$key } from '../../__generated__/installationsPage_project.graphql.ts';
import type { installationsPageNextQuery } from '../../__generated__/installationsPageNextQuery.graphql.ts';
import type { installationsPageQuery } from '../../__generated__/installationsPageQuery.graphql.ts';
import { useAddress } from '../parts/filters.tsx';
import { Empty, Missing, Page } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { More } from '../parts/table.tsx';
import type { PageProps } from '../shell/places.ts';
import { InstallationRows } from './installation-rows.tsx';

const QUERY = graphql`
  query installationsPageQuery($project: String!) {
    project(idOrName: $project) {
      ...installationsPage_project
    }
  }
`;

const LIST = graphql`
  fragment installationsPage_project on Project
  @argumentDefinitions(count: { type: "Int", defaultValue: 25 }, cursor: { type: "String" })
  @refetchable(queryName: "installationsPageNextQuery") {
    installations(first: $count, after: $cursor)
      @connection(key: "installationsPage_installations") {
      totalCount
      edges {
        node {
          id
          ...installationRows_installation
        }
      }
    }
  }
`;

const LOOK_MS = 10_000;

export default function InstallationsPage({ project: idOrName }: PageProps) {
  const variables = { project: idOrName };
  const { project } = usePageQuery<installationsPageQuery>(QUERY, variables, { everyMs: LOOK_MS });
  const address = useAddress(idOrName);
  if (!project) return <Missing what="project" />;
  return (
    <Page
      title="Installations"
      about="Integrations that groups use, and how they are doing."
      query={QUERY}
      variables={variables}
    >
      <section className="card">
        <List project={project} address={address} />
      </section>
    </Page>
  );
}

interface ListProps {
  project: installationsPage_project$key;
  address: (path: string) => string;
}

function List({ project, address }: ListProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    installationsPageNextQuery,
    installationsPage_project$key
  >(LIST, project);
  const { edges, totalCount } = data.installations;
  if (edges.length === 0) {
    return (
      <Empty title="No installation yet">
        A customer installs an integration on the connect page, or your backend calls
        createInstallation.
      </Empty>
    );
  }
  return (
    <>
      <InstallationRows installations={edges.map(({ node }) => node)} address={address} />
      <More
        shown={edges.length}
        total={totalCount}
        hasNext={hasNext}
        isLoading={isLoadingNext}
        loadNext={loadNext}
      />
    </>
  );
}
