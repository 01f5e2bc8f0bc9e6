/** Lets the browser save a file that the page made. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Late enough for the browser to have read it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
