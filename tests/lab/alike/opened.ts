// Files that are opened one after the other, as the page does, and the message after each.

import { failure } from "../../../lab/src/state/lab";
import { openFile } from "../../../lab/src/view/open_file";

export async function opened(files: [name: string, text: string][]): Promise<(string | null)[]> {
  const messages: (string | null)[] = [];
  for (const [name, text] of files) {
    await openFile(new File([text], name));
    messages.push(failure.value);
  }
  return messages;
}
