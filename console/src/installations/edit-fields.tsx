/** Edits which fields of the customer's account an installation reads. */
import { graphql, useFragment } from 'react-relay';
import type { editFields_installation$key } from '../../__generated__/editFields_installation.graphql.ts';
import type { editFieldsMutation } from '../../__generated__/editFieldsMutation.graphql.ts';
import { AccountFields } from '../fields/account-fields.tsx';
import { ObjectFields, readFieldConfig } from '../fields/object-fields.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import type { FormValues } from '../parts/form.tsx';
import { Loaded } from '../parts/page.tsx';

const INSTALLATION = graphql`
  fragment editFields_installation on Installation {
    id
    revision {
      content {
        read {
          objects {
            objectName
            ...objectFields_object
          }
        }
      }
    }
    config {
      proxy {
        enabled
      }
      read {
        backfill {
          days
          fieldFilters {
            fieldName
            operator
            value
          }
          fullHistory
        }
        destination
        disabled
        dynamicMappings {
          fieldName
          mapToDisplayName
          mapToName
          mappedValues {
            mappedDisplayValue
            mappedValue
          }
          prompt
        }
        fieldFilters {
          fieldName
          operator
          value
        }
        fieldMappings {
          default
          fieldName
          mapToDisplayName
          mapToName
          prompt
          valueType
        }
        objectName
        schedule
        selectedFields
        selectedFieldsAuto
        valueMappings {
          fieldName
          values {
            deliveredValue
            providerValue
          }
        }
      }
      subscribe {
        createEvent {
          enabled
        }
        deleteEvent {
          enabled
        }
        destination
        inheritFieldsAndMapping
        objectName
        otherEvents
        updateEvent {
          enabled
          requiredWatchFields
          watchFieldsAuto
        }
      }
      write {
        deletionEnabled
        fields {
          default
          defaultOnUpdate
          fieldName
          writeOnCreate
          writeOnUpdate
        }
        objectName
      }
    }
  }
`;

const UPDATE_INSTALLATION = graphql`
  mutation editFieldsMutation($input: UpdateInstallationInput!) {
    updateInstallation(input: $input) {
      installation {
        id
        ...editFields_installation
      }
    }
  }
`;

interface EditFieldsProps {
  project: string;
  installation: editFields_installation$key;
}

export function EditFields({ project, installation }: EditFieldsProps) {
  const { id, revision, config } = useFragment(INSTALLATION, installation);
  const objects = revision.content.read?.objects ?? [];
  const findConfig = (name: string) => config.read.find(({ objectName }) => objectName === name);
  const createInput = (values: FormValues) => {
    const read = config.read.map((object) =>
      applyFieldConfig(object, readFieldConfig(values, object.objectName)),
    );
    // An update replaces the complete config, so members that the form does not show are sent back unchanged.
    const nextConfig = { ...config, read } as never;
    return { projectIdOrName: project, installationId: id, config: nextConfig };
  };
  if (objects.length === 0) return null;
  return (
    <FormDialog<editFieldsMutation>
      triggerLabel="Edit fields"
      title="Fields to read"
      submitLabel="Save"
      mutation={UPDATE_INSTALLATION}
      variables={(values) => ({ input: createInput(values) })}
    >
      {objects
        .filter(({ objectName }) => findConfig(objectName))
        .map((object) => (
          <Loaded key={object.objectName} resetKey={object.objectName}>
            <AccountFields installationId={id} objectName={object.objectName}>
              {(accountObject) => (
                <ObjectFields
                  object={object}
                  accountObject={accountObject}
                  config={findConfig(object.objectName) ?? null}
                />
              )}
            </AccountFields>
          </Loaded>
        ))}
    </FormDialog>
  );
}

interface MappedObject {
  fieldMappings: readonly { mapToName?: string | null; fieldName?: string | null }[];
}

/**
 * Applies the values of the form to the config. Mappings that the form does not show, and further members of
 * mappings, remain.
 */
function applyFieldConfig<Read extends MappedObject>(
  read: Read,
  fieldConfig: ReturnType<typeof readFieldConfig>,
) {
  const byName = new Map(fieldConfig.fieldMappings.map((mapping) => [mapping.mapToName, mapping]));
  const mappings = read.fieldMappings.map((mapping) => ({
    ...mapping,
    ...byName.get(mapping.mapToName ?? ''),
  }));
  const added = fieldConfig.fieldMappings.filter(
    ({ mapToName }) => !read.fieldMappings.some((mapping) => mapping.mapToName === mapToName),
  );
  return {
    ...read,
    selectedFields: fieldConfig.selectedFields,
    fieldMappings: [...mappings, ...added],
  };
}
