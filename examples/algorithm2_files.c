/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 2 of the paper: a file goes to the device, through a kernel and to another file, the host never waiting. */
#include "example.h"

int main(int argc, char** argv) {
    struct example with = example_begin(&argc, &argv);
    const size_t header = 1000;
    const size_t bsz = 5000000;
    const size_t off = 4096;
    const char* source = "__kernel void invert(__global uchar *data, ulong first)"
                         "{ data[first + get_global_id(0)] ^= 255; }";
    const cl_ulong first = off;
    unsigned char* contents = malloc(header + bsz);
    FILE* in = tmpfile();
    FILE* fp = in;
    FILE* out = tmpfile();
    cl_command_queue cmd = example_queue(&with);
    cl_mem mem = example_buffer(&with, off + bsz, NULL);
    cl_kernel invert = example_kernel(&with, source, "invert");
    cl_event evt[3];
    int good = 1;

    if (!contents || !in || !out) {
        fprintf(stderr, "no memory or no temporary file\n");
        example_abort();
    }
    for (size_t at = 0; at < header + bsz; ++at) contents[at] = (unsigned char)(at * 13 + at / 300 + (size_t)with.rank);
    if (fwrite(contents, 1, header + bsz, in) != header + bsz || fflush(in) != 0) example_abort();
    rewind(in);
    /* The commands go on from where stdio's own calls have left the stream. */
    if (fread(contents, 1, header, in) != header) example_abort();

    EXAMPLE_CHECK(clSetKernelArg(invert, 0, sizeof mem, &mem));
    EXAMPLE_CHECK(clSetKernelArg(invert, 1, sizeof first, &first));
    EXAMPLE_CHECK(clEnqueueWriteBufferFromStdioFile(cmd, mem, CL_FALSE, off, bsz, fp, 0, NULL, &evt[0]));
    EXAMPLE_CHECK(clEnqueueNDRangeKernel(cmd, invert, 1, NULL, &bsz, NULL, 1, &evt[0], &evt[1]));
    fp = out;
    EXAMPLE_CHECK(clEnqueueReadBufferToStdioFile(cmd, mem, CL_FALSE, off, bsz, fp, 1, &evt[1], &evt[2]));
    EXAMPLE_CHECK(clFinish(cmd));

    good = good && ftell(in) == (long)(header + bsz) && ftell(out) == (long)bsz;
    rewind(out);
    good = good && fread(contents, 1, bsz, out) == bsz && fgetc(out) == EOF;
    for (size_t at = 0; good && at < bsz; ++at) {
        const size_t in_file = header + at;
        good = contents[at] == (unsigned char)~(in_file * 13 + in_file / 300 + (size_t)with.rank);
    }
    for (int i = 0; i < 3; ++i) clReleaseEvent(evt[i]);
    clReleaseKernel(invert);
    clReleaseMemObject(mem);
    clReleaseCommandQueue(cmd);
    fclose(in);
    fclose(out);
    free(contents);
    return example_end(&with, "algorithm 2", good);
}
