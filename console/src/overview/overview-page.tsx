/** The project at a glance. Each figure leads to the list behind it. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { overviewPageQuery } from '../../__generated__/overviewPageQuery.graphql.ts';
import { Missing, Page } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { PageProps } from '../shell/places.ts';

const QUERY = graphql`
  query overviewPageQuery($project: String!) {
    project(idOrName: $project) {
      id
      name
      appName
      connections {
        totalCount
      }
      broken: connections(status: BAD_CREDENTIALS) {
        totalCount
      }
      installations {
        totalCount
      }
      operations {
        totalCount
      }
      running: operations(status: IN_PROGRESS) {
        totalCount
      }
      failed: operations(status: FAILURE) {
        totalCount
      }
    }
  }
`;

const LOOK_MS = 5_000;

export default function OverviewPage({ project: idOrName }: PageProps) {
  const variables = { project: idOrName };
  const { project } = usePageQuery<overviewPageQuery>(QUERY, variables, { everyMs: LOOK_MS });
  if (!project) return <Missing what="project" />;
  const { connections, broken, installations, operations, running, failed } = project;
  const to = (path: string) => `/${encodeURIComponent(idOrName)}/${path}`;
  return (
    <Page title="Overview" about={project.appName} query={QUERY} variables={variables}>
      <div className="figures">
        <Figure of={connections.totalCount} name="Connections" to={to('connections')} />
        <Figure
          of={broken.totalCount}
          name="Need a new consent"
          to={to('connections?status=BAD_CREDENTIALS')}
          isBad
        />
        <Figure of={installations.totalCount} name="Installations" to={to('integrations')} />
        <Figure of={operations.totalCount} name="Operations" to={to('operations')} />
        <Figure
          of={running.totalCount}
          name="Running now"
          to={to('operations?status=IN_PROGRESS')}
        />
        <Figure
          of={failed.totalCount}
          name="Failed operations"
          to={to('operations?status=FAILURE')}
          isBad
        />
      </div>
    </Page>
  );
}

interface FigureProps {
  of: number;
  name: string;
  to: string;
  /** More than none wants somebody's care. */
  isBad?: boolean;
}

function Figure({ of, name, to, isBad = false }: FigureProps) {
  return (
    <Link href={to} className={isBad && of > 0 ? 'figure bad' : 'figure'}>
      <strong>{of.toLocaleString('en')}</strong>
      <span className="quiet">{name}</span>
    </Link>
  );
}
