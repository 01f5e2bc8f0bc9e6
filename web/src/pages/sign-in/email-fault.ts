/** What is wrong with an address, in words; undefined: nothing that can be seen from here. */
export function emailFault(email: string): string | undefined {
  const text = email.trim()
  if (text === '') return 'Digite seu e-mail.'
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) {
    return 'Confira o e-mail: ele deve ser como voce@exemplo.com.br.'
  }
  return undefined
}
