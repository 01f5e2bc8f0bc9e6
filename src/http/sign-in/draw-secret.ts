import { base32, totpUri } from '../../identity/sign-in/totp.ts'

/** For the authenticator app: a QR code to scan, and text to type. */
export async function drawSecret(
  secret: Buffer,
  account: string,
): Promise<{ secret: string; uri: string; qrPng: string }> {
  const uri = totpUri(secret, account)
  const { toBuffer } = await import('qrcode')
  const png = await toBuffer(uri, { errorCorrectionLevel: 'M', margin: 2, width: 320 })
  return { secret: base32(secret), uri, qrPng: png.toString('base64') }
}
