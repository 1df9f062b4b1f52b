/** Shows the open project and its org, with a menu of the user's other projects. */
import {
  Button,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
} from 'react-aria-components';
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { projectSwitcherProjectsQuery } from '../../__generated__/projectSwitcherProjectsQuery.graphql.ts';
import type { projectSwitcherQuery } from '../../__generated__/projectSwitcherQuery.graphql.ts';
import { Loaded } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';

const OPEN_PROJECT = graphql`
  query projectSwitcherQuery($project: String!) {
    project(idOrName: $project) {
      name
      appName
    }
  }
`;

const PROJECTS = graphql`
  query projectSwitcherProjectsQuery {
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

export function ProjectSwitcher({ project: projectIdOrName }: { project: string }) {
  return (
    <MenuTrigger>
      <Button className="switcher">
        <Loaded
          resetKey={projectIdOrName}
          errorFallback={<span className="names strong">{projectIdOrName}</span>}
        >
          <OpenProject project={projectIdOrName} />
        </Loaded>
        <span aria-hidden="true">▾</span>
      </Button>
      <Popover className="popover" placement="bottom start">
        <Loaded resetKey="projects">
          <ProjectMenu />
        </Loaded>
      </Popover>
    </MenuTrigger>
  );
}

function OpenProject({ project: projectIdOrName }: { project: string }) {
  const { project } = usePageQuery<projectSwitcherQuery>(OPEN_PROJECT, {
    project: projectIdOrName,
  });
  return (
    <span className="names">
      <span className="strong">{project?.name ?? projectIdOrName}</span>
      <span className="quiet">{project?.appName}</span>
    </span>
  );
}

/** The path of the list of projects. With `?all`, the list does not open a single project. */
const ALL_PROJECTS = '/?all';

function ProjectMenu() {
  const { projects } = usePageQuery<projectSwitcherProjectsQuery>(PROJECTS, {});
  const [, navigate] = useLocation();
  const byOrg = Map.groupBy(projects.nodes, ({ org }) => org?.label ?? 'Projects');
  return (
    <Menu className="options" aria-label="Projects" onAction={(path) => navigate(String(path))}>
      {[...byOrg].map(([org, nodes]) => (
        <MenuSection key={org} id={org}>
          <Header className="menu-heading">{org}</Header>
          {nodes.map(({ id, name, appName }) => (
            <MenuItem
              key={id}
              id={`/${encodeURIComponent(name)}`}
              className="option"
              textValue={name}
            >
              <span className="strong">{name}</span> <span className="quiet">{appName}</span>
            </MenuItem>
          ))}
        </MenuSection>
      ))}
      <MenuItem id={ALL_PROJECTS} className="option">
        All projects and orgs
      </MenuItem>
    </Menu>
  );
}
