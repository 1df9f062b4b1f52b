/** Shows the provider's name of an object, followed by the mapped name. */
interface ObjectNameProps {
  objectName: string;
  mappedObjectName: string | null | undefined;
}

export function ObjectName({ objectName, mappedObjectName }: ObjectNameProps) {
  return (
    <>
      <span className="strong">{objectName}</span>
      {mappedObjectName && <span className="quiet"> as {mappedObjectName}</span>}
    </>
  );
}
