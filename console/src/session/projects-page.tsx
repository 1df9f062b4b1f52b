/**
 * Lists the projects that the user may see. A single project opens immediately, unless the URL has `?all`.
 */
import { graphql } from 'react-relay';
import { Link, Redirect, useSearchParams } from 'wouter';
import type { projectsPageQuery } from '../../__generated__/projectsPageQuery.graphql.ts';
import { InvitesToViewer } from '../org/invites-to-viewer.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Action } from '../parts/form.tsx';
import { Page } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { NewProject } from './new-project.tsx';

const PAGE_QUERY = graphql`
  query projectsPageQuery {
    ...invitesToViewer_query
    viewer {
      project {
        name
      }
    }
    orgs(first: 100) {
      nodes {
        id
        label
        viewerRole
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
  const query = usePageQuery<projectsPageQuery>(PAGE_QUERY, {});
  const { viewer, orgs, projects } = query;
  const [params] = useSearchParams();
  const onlyProject = viewer.project ?? (projects.nodes.length === 1 ? projects.nodes[0] : null);
  if (onlyProject && !params.has('all')) {
    return <Redirect to={`/${encodeURIComponent(onlyProject.name)}`} replace />;
  }
  const signOut = <Action onPress={onSignOut}>Sign out</Action>;
  if (projects.nodes.length === 0) {
    return (
      <main className="projects">
        <Page
          title="Create your first project"
          description="A project is one product of yours: its integrations, its customers' accounts, and its keys."
          actions={signOut}
        >
          <InvitesToViewer query={query} />
          <section className="card">
            <NewProject orgs={orgs?.nodes ?? []} />
          </section>
        </Page>
      </main>
    );
  }
  return (
    <main className="projects">
      <Page
        title="Projects"
        query={PAGE_QUERY}
        actions={
          <>
            {!viewer.project && (
              <Dialog triggerLabel="Create project" kind="primary" title="Create project">
                {(close) => <NewProject orgs={orgs?.nodes ?? []} onCancel={close} />}
              </Dialog>
            )}
            {signOut}
          </>
        }
      >
        <InvitesToViewer query={query} />
        <section className="card">
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
