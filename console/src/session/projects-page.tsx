/** The projects that the reader may see. The only one opens immediately, unless the URL has `?all`. */
import { graphql } from 'react-relay';
import { Link, Redirect, useSearchParams } from 'wouter';
import type { projectsPageQuery } from '../../__generated__/projectsPageQuery.graphql.ts';
import { InvitesToViewer } from '../org/invites-to-viewer.tsx';
import { Action } from '../parts/form.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';

const QUERY = graphql`
  query projectsPageQuery {
    ...invitesToViewer_query
    viewer {
      project {
        name
      }
    }
    projects(first: 100) {
      nodes {
        id
        name
        appName
        org {
          label
        }
      }
    }
  }
`;

export function ProjectsPage({ onSignOut }: { onSignOut: () => void }) {
  const query = usePageQuery<projectsPageQuery>(QUERY, {});
  const { viewer, projects } = query;
  const [params] = useSearchParams();
  const onlyProject = viewer.project ?? (projects.nodes.length === 1 ? projects.nodes[0] : null);
  if (onlyProject && !params.has('all'))
    return <Redirect to={`/${encodeURIComponent(onlyProject.name)}`} replace />;
  return (
    <main className="projects">
      <Page title="Projects" query={QUERY} actions={<Action onPress={onSignOut}>Sign out</Action>}>
        <InvitesToViewer query={query} />
        <section className="card">
          {projects.nodes.length === 0 && (
            <Empty title="No project yet">Create one with createProject in GraphiQL.</Empty>
          )}
          <ul className="plain-list">
            {projects.nodes.map(({ id, name, appName, org }) => (
              <li key={id}>
                <Link href={`/${encodeURIComponent(name)}`} className="strong">
                  {name}
                </Link>
                <span className="quiet">
                  {appName}
                  {org && ` · ${org.label}`}
                </span>
              </li>
            ))}
          </ul>
        </section>
      </Page>
    </main>
  );
}
