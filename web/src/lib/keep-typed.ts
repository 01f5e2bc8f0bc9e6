const valueOfInput = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')

/**
 * What a visitor typed, checked and focused on a drawn page, before the code of the dashboard was there. Returns what puts
 * it into the page that has taken its place: fields have the same ids or names.
 */
export function keepTyped(root: HTMLElement): () => void {
  const fields = [...root.querySelectorAll('input')].map((field) => ({
    place: placeOf(field),
    value: field.value,
    isChecked: field.checked,
    hasFocus: field === document.activeElement,
  }))
  return () => {
    for (const { place, value, isChecked, hasFocus } of fields) {
      const field = root.querySelector<HTMLInputElement>(place)
      if (!field) continue
      if (field.checked !== isChecked) field.click()
      else if (field.value !== value) {
        // React hears only of a value that was not set by its own property.
        valueOfInput?.set?.call(field, value)
        field.dispatchEvent(new Event('input', { bubbles: true }))
      }
      if (hasFocus) field.focus()
    }
  }
}

function placeOf({ id, name }: HTMLInputElement): string {
  return name === '' ? `input[id="${id}"]` : `input[name="${name}"]`
}
