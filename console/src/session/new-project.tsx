/** A form for a new project, in an org of which the user is an admin or in a new org. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { newProjectMutation } from '../../__generated__/newProjectMutation.graphql.ts';
import type { newProjectOrgMutation } from '../../__generated__/newProjectOrgMutation.graphql.ts';
import { Action, Choice, Form, type FormValues, Refusal, TextInput } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';

const CREATE_ORG = graphql`
  mutation newProjectOrgMutation($input: CreateOrgInput!) {
    createOrg(input: $input) {
      org {
        id
      }
    }
  }
`;

const CREATE_PROJECT = graphql`
  mutation newProjectMutation($input: CreateProjectInput!) {
    createProject(input: $input) {
      project {
        name
      }
    }
  }
`;

const NEW_ORG = 'new';

interface NewProjectProps {
  /** The orgs of the user. */
  orgs: readonly { id: string; label: string; viewerRole: string | null | undefined }[];
  onCancel?: () => void;
}

export function NewProject({ orgs: allOrgs, onCancel }: NewProjectProps) {
  const orgs = allOrgs.filter(({ viewerRole }) => viewerRole === 'ADMIN');
  const otherOrgs = allOrgs.filter((org) => !orgs.includes(org));
  const [orgId, setOrgId] = useState(orgs[0]?.id ?? NEW_ORG);
  const orgCreation = useChange<newProjectOrgMutation>(CREATE_ORG);
  const projectCreation = useChange<newProjectMutation>(CREATE_PROJECT);
  const [, navigate] = useLocation();
  const problem = orgCreation.problem ?? projectCreation.problem;

  /** Returns the ID of the chosen org, or of a new org. Null if the gateway refused the new org. */
  const getOrCreateOrg = async (label: string): Promise<string | null> => {
    if (orgId !== NEW_ORG) return orgId;
    const response = await orgCreation.run({ input: { label } });
    // If the gateway then refuses the project, the next attempt uses the same org.
    if (response) setOrgId(response.createOrg.org.id);
    return response?.createOrg.org.id ?? null;
  };
  const create = async (values: FormValues) => {
    const readText = (name: string) => String(values[name] ?? '').trim();
    const parentId = await getOrCreateOrg(readText('label'));
    if (parentId === null) return;
    const input = { orgId: parentId, name: readText('name'), appName: readText('appName') };
    const response = await projectCreation.run({ input });
    if (response) navigate(`/${encodeURIComponent(response.createProject.project.name)}/start`);
  };
  const isNewOrg = orgId === NEW_ORG;
  return (
    <Form onSubmit={create} problem={problem}>
      {orgs.length > 0 && (
        <Choice
          label="Org"
          options={[...orgs, { id: NEW_ORG, label: 'New org' }]}
          value={orgId}
          onChange={setOrgId}
        />
      )}
      {otherOrgs.length > 0 && (
        <p className="quiet">
          Only admins can create projects. To get one in{' '}
          {otherOrgs.map(({ label }) => label).join(', ')}, ask an admin of the org.
        </p>
      )}
      {isNewOrg && (
        <TextInput
          name="label"
          label="Org name"
          isRequired
          help="Your company. Its members share the projects."
        />
      )}
      <TextInput
        name="appName"
        label="Product name"
        isRequired
        help="Your customers see it when they connect accounts."
      />
      <TextInput
        name="name"
        label="Project name"
        isRequired
        placeholder="my-product"
        help="Letters, digits and hyphens. Used in URLs and API calls."
      />
      <Refusal problem={problem} shownNames={['label', 'name', 'appName']} />
      <div className="row">
        <Action
          type="submit"
          kind="primary"
          isPending={orgCreation.isRunning || projectCreation.isRunning}
        >
          Create project
        </Action>
        {onCancel && <Action onPress={onCancel}>Cancel</Action>}
      </div>
    </Form>
  );
}
