/** The installations of the project. */
import { graphql, usePaginationFragment } from 'react-relay';
import type { installationsPage_project$key } from '../../__generated__/installationsPage_project.graphql.ts';
import type { installationsPageNextQuery } from '../../__generated__/installationsPageNextQuery.graphql.ts';
import type { installationsPageQuery } from '../../__generated__/installationsPageQuery.graphql.ts';
import {
  Filter,
  NameFilter,
  TimeFilter,
  useAddress,
  useFilter,
  useTextFilter,
  useTimeRange,
} from '../parts/filters.tsx';
import { Empty, Missing, Page } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { PageProps } from '../shell/places.ts';
import { InstallationRows } from './installation-rows.tsx';

const QUERY = graphql`
  query installationsPageQuery(
    $project: String!
    $integration: String
    $health: InstallationHealth
    $createTime: TimeRangeInput
  ) {
    project(idOrName: $project) {
      ...installationsPage_project 
        @arguments(integration: $integration, health: $health, createTime: $createTime)
      integrations(first: 100) {
        nodes {
          id
          name
        }
      }
    }
  }
`;

const LIST = graphql`
  fragment installationsPage_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    integration: { type: "String" }
    health: { type: "InstallationHealth" }
    createTime: { type: "TimeRangeInput" }
  )
  @refetchable(queryName: "installationsPageNextQuery") {
    installations(
      first: $count
      after: $cursor
      integrationIdOrName: $integration
      healthStatus: $health
      createTime: $createTime
    ) @connection(key: "installationsPage_installations") {
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

const HEALTH = ['HEALTHY', 'UNHEALTHY'] as const;
const LOOK_MS = 10_000;

export default function InstallationsPage({ project: idOrName }: PageProps) {
  const [integration, setIntegration] = useTextFilter('integration');
  const createTime = useTimeRange();
  const [health, setHealth] = useFilter('health', HEALTH);
  const filters = { integration: integration || null, health, createTime };
  const variables = { project: idOrName, ...filters };
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
      <div className="filters">
        <NameFilter
          label="Integration"
          names={project.integrations.nodes.map(({ name }) => name)}
          value={integration}
          onChange={setIntegration}
        />
        <Filter label="Health" values={HEALTH} value={health} onChange={setHealth} />
        <TimeFilter />
      </div>
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
  const { data, ...pages } = usePaginationFragment<
    installationsPageNextQuery,
    installationsPage_project$key
  >(LIST, project);
  const empty = (
    <Empty title="No installation">
      A customer installs an integration on the connect page, or your backend calls
      createInstallation.
    </Empty>
  );
  return (
    <Paged list={data.installations} pages={pages} empty={empty}>
      {(installations) => <InstallationRows installations={installations} address={address} />}
    </Paged>
  );
}
