/** The steps from an empty project to a first call of the API, and which of them are done. */
import { graphql } from 'react-relay';
import type { progressQuery } from '../../__generated__/progressQuery.graphql.ts';
import { usePageQuery } from '../parts/queries.ts';

export const PROGRESS = graphql`
  query progressQuery($project: String!) {
    project(idOrName: $project) {
      id
      ...newApiKey_project
      integrations(first: 1) {
        totalCount
        nodes {
          name
          provider
          latestRevision {
            content {
              displayName
              read {
                objects {
                  objectName
                  mapToName
                  destination
                  requiredFields {
                    fieldName
                    mapToName
                  }
                  optionalFields {
                    fieldName
                    mapToName
                  }
                }
              }
              write {
                objects {
                  objectName
                  inheritMapping
                }
              }
            }
          }
        }
      }
      connections {
        totalCount
      }
      installations(first: 1) {
        totalCount
        nodes {
          id
          group {
            groupRef
          }
          integration {
            name
          }
          objects {
            objectName
            recordsRead
          }
        }
      }
      completedReads: operations(first: 1, status: SUCCEEDED, actionType: READ) {
        totalCount
      }
      apiKeys(first: 100) {
        nodes {
          lastUsedTime
        }
      }
    }
  }
`;

export type ProjectProgress = NonNullable<progressQuery['response']['project']>;

export interface Step {
  id: 'integration' | 'account' | 'records' | 'calls';
  title: string;
  isDone: boolean;
}

/** Returns null if the user may not see the project. */
export function useProgress(
  projectIdOrName: string,
  everyMs: number,
): { project: ProjectProgress; steps: Step[] } | null {
  const { project } = usePageQuery<progressQuery>(
    PROGRESS,
    { project: projectIdOrName },
    { everyMs },
  );
  if (!project) return null;
  const { integrations, connections, installations, completedReads, apiKeys } = project;
  const steps: Step[] = [
    {
      id: 'integration',
      title: 'Create an integration',
      isDone: integrations.totalCount > 0,
    },
    {
      id: 'account',
      title: 'Connect a test account',
      isDone: connections.totalCount > 0 && installations.totalCount > 0,
    },
    {
      id: 'records',
      title: 'See the first records',
      isDone: completedReads.totalCount > 0,
    },
    {
      id: 'calls',
      title: 'Call the API from your backend',
      isDone: apiKeys.nodes.some(({ lastUsedTime }) => lastUsedTime != null),
    },
  ];
  return { project, steps };
}
