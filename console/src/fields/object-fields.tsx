/** Form inputs for the fields of an object: required, optional and mapped fields. */
import { graphql, useFragment } from 'react-relay';
import type { objectFields_object$key } from '../../__generated__/objectFields_object.graphql.ts';
import { CheckBox, Choice } from '../parts/form.tsx';
import { usePartMessages } from '../parts/part-messages.ts';

export const OBJECT = graphql`
  fragment objectFields_object on ReadObjectSpec {
    objectName
    mapToName
    mapToDisplayName
    enabled
    optionalFieldsAuto
    requiredFields {
      fieldName
      mapToName
      mapToDisplayName
    }
    optionalFields {
      fieldName
      mapToName
      mapToDisplayName
    }
  }
`;

interface AccountField {
  fieldName: string;
  displayName: string;
}

/** An object of the account, as the provider describes it. */
export interface AccountObject {
  displayName?: string | null | undefined;
  fields: readonly AccountField[];
}

/** Stands for the description if the provider can't describe its objects. */
export const UNDESCRIBED: AccountObject = { fields: [] };

/** The object's config in the installation. */
interface FieldConfig {
  selectedFields: readonly string[];
  fieldMappings: readonly { fieldName?: string | null; mapToName?: string | null }[];
}

interface ObjectFieldsProps {
  object: objectFields_object$key;
  accountObject: AccountObject;
  /** Null for a new installation. */
  config: FieldConfig | null;
}

interface Mapping {
  fieldName?: string | null;
  mapToName?: string | null;
  mapToDisplayName?: string | null;
}

export function ObjectFields({ object, accountObject, config }: ObjectFieldsProps) {
  const { displayName, fields: accountFields } = accountObject;
  const spec = useFragment(OBJECT, object);
  const messages = usePartMessages();
  const getLabel = ({ fieldName, mapToName, mapToDisplayName }: Mapping) =>
    mapToDisplayName ??
    accountFields.find((candidate) => candidate.fieldName === fieldName)?.displayName ??
    mapToName ??
    fieldName ??
    '';
  const requiredFields = spec.requiredFields.filter(({ fieldName }) => fieldName);
  const manifestFields = [...spec.requiredFields, ...spec.optionalFields];
  const mappedByCustomer = manifestFields.filter(({ fieldName }) => !fieldName);
  const manifestFieldNames = new Set(manifestFields.map(({ fieldName }) => fieldName));
  const optionalFields = [
    ...spec.optionalFields.filter(({ fieldName }) => fieldName),
    ...(spec.optionalFieldsAuto === 'ALL'
      ? accountFields.filter(({ fieldName }) => !manifestFieldNames.has(fieldName))
      : []),
  ] as Mapping[];
  const findMappedField = (name: string | null | undefined) =>
    config?.fieldMappings.find(({ mapToName }) => mapToName === name)?.fieldName ?? undefined;
  const options = accountFields.map((field) => ({
    id: field.fieldName,
    label: field.displayName,
  }));
  return (
    <fieldset className="fields">
      <legend className="strong">
        {spec.mapToDisplayName ?? displayName ?? spec.mapToName ?? spec.objectName}
      </legend>
      {requiredFields.length > 0 && (
        <p className="quiet">{messages.alwaysRead(requiredFields.map(getLabel).join(', '))}</p>
      )}
      {mappedByCustomer.map((field) => (
        <Choice
          key={field.mapToName}
          name={getMappingName(spec.objectName, field.mapToName ?? '')}
          label={messages.yourField(getLabel(field))}
          options={options}
          isRequired={spec.requiredFields.includes(field as never)}
          {...(findMappedField(field.mapToName) && {
            defaultValue: findMappedField(field.mapToName) as string,
          })}
        />
      ))}
      {optionalFields.length > 0 && <p className="strong">{messages.optional}</p>}
      <div className="checks">
        {optionalFields.map((field) => (
          <CheckBox
            key={field.fieldName}
            name={getSelectionName(spec.objectName, field.fieldName ?? '')}
            label={getLabel(field)}
            isCheckedByDefault={
              config
                ? config.selectedFields.includes(field.fieldName ?? '')
                : spec.optionalFieldsAuto !== 'ALL'
            }
          />
        ))}
      </div>
    </fieldset>
  );
}

const getSelectionName = (objectName: string, fieldName: string) =>
  `field/${objectName}/${fieldName}`;
const getMappingName = (objectName: string, name: string) => `map/${objectName}/${name}`;

/** Reads the config of an object's fields from the values of a form that contains `ObjectFields`. */
export function readFieldConfig(values: Record<string, FormDataEntryValue>, objectName: string) {
  const valuesWithPrefix = (prefix: string) =>
    Object.entries(values).flatMap(([name, value]) => {
      const start = `${prefix}/${objectName}/`;
      return name.startsWith(start) && value !== '' ? [[name.slice(start.length), value]] : [];
    });
  return {
    objectName,
    selectedFields: valuesWithPrefix('field').map(([fieldName]) => String(fieldName)),
    fieldMappings: valuesWithPrefix('map').map(([mapToName, fieldName]) => ({
      mapToName: String(mapToName),
      fieldName: String(fieldName),
    })),
  };
}
