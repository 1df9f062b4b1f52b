/** Settings of the project, and its keys. */
import { graphql } from 'react-relay';
import type { settingsPageQuery } from '../../__generated__/settingsPageQuery.graphql.ts';
import { NotFound, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { ConsolePageProps } from '../shell/pages.ts';
import { ApiKeys } from './api-keys.tsx';
import { DeleteProject } from './delete-project.tsx';
import { EndUsers } from './end-users.tsx';
import { NewApiKey } from './new-api-key.tsx';
import { ProjectForm } from './project-form.tsx';

const PAGE_QUERY = graphql`
  query settingsPageQuery($project: String!) {
    viewer {
      kind
    }
    project(idOrName: $project) {
      id
      name
      org {
        viewerRole
      }
      ...newApiKey_project
      ...projectForm_project
      ...apiKeys_project
      ...endUsers_project
    }
  }
`;

export default function SettingsPage({ project: projectIdOrName }: ConsolePageProps) {
  const variables = { project: projectIdOrName };
  const { viewer, project } = usePageQuery<settingsPageQuery>(PAGE_QUERY, variables);
  if (!project) return <NotFound noun="project" />;
  return (
    <Page title="Settings" query={PAGE_QUERY} variables={variables}>
      <Panel title="Project">
        <ProjectForm project={project} />
      </Panel>
      <Panel
        title="API keys"
        actions={<NewApiKey project={project} projectIdOrName={projectIdOrName} />}
      >
        <ApiKeys project={project} projectIdOrName={projectIdOrName} />
      </Panel>
      <EndUsers project={project} />
      {viewer.kind === 'BUILDER' && (
        <Panel title="Danger zone">
          {project.org?.viewerRole === 'ADMIN' ? (
            <DeleteProject name={project.name} />
          ) : (
            <p className="quiet">Only org admins can delete the project.</p>
          )}
        </Panel>
      )}
    </Page>
  );
}
