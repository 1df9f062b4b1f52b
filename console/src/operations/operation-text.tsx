/** A result or log line of an operation, which the gateway begins with the object in brackets, like `[contacts]`. */

interface OperationTextProps {
  text: string | null | undefined;
  /** Objects that the page names next to the text. */
  namedObjects: readonly string[];
}

/** Shows the object as a label, or omits it if it is the only one that the page names. */
export function OperationText({ text, namedObjects }: OperationTextProps) {
  const [, objectName, sentence] = /^\[([^\]]+)\] (.*)$/s.exec(text ?? '') ?? [];
  if (!objectName || !sentence) return text;
  if (namedObjects.length === 1 && namedObjects[0] === objectName) return sentence;
  return (
    <>
      <span className="tag">{objectName}</span> {sentence}
    </>
  );
}
